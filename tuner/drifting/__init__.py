"""What documentation, docstrings and code of an engine say of the same limits."""
