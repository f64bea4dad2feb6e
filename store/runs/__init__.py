"""A run as a value, and in the database: begun, added to, decided, loaded."""
