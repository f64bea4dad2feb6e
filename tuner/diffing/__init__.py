"""Two pins side by side, from their files alone."""
