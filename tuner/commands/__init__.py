"""What the words of the command line do, a room for each kind of question. Heavy imports stand inside the functions."""
