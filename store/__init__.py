"""Records of what flows, the database that keeps them, and the pin files."""
