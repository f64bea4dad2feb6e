"""Two environments measured in pairs, as a value, in the database and in one small file."""
