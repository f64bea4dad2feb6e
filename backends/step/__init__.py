"""What of a served step is not attention: its shape, and how long it takes here."""
