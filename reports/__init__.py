"""Records in, text out. No I/O in a renderer."""
