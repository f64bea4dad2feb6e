"""SGLang asked for its own resolution of a command line: in a process of its own, without weights, on any machine."""
