"""Starting a server with a pin's flags: what its command line already chooses, and what is added to it."""
