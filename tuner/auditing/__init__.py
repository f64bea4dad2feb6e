"""The parts of an audit: which cells and arms test a recorded reason, what was seen of it, and what follows for the default."""
