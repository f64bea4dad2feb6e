"""What two stores exchange: given out to a file, read from one, taken in."""
