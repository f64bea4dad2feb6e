"""Which of several changes made attention slower: in which order they are moved alone, and what that says."""
