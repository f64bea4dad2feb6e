"""Whether a running server took a pin: what it should serve, what it says, and the two held against each other."""
