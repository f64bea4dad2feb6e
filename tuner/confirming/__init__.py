"""A serving run that confirms a pin: a server started with it and without it, the same traffic, and what the answers say."""
