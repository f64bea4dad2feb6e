"""How much times vary on a board by themselves and beside busy neighbours: measured, and as it is known of a board."""
