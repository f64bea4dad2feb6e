"""Where a pin is written: whether it can be, what stands there already, what else lies in its folder, and what the run came to."""
