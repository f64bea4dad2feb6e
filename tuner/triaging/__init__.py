"""What may be wrong with a server: its work as the log shows it, the causes that each kind of sign speaks for, and their order."""
