"""Is an output right: a reference, needles, and how much a dtype may err."""
