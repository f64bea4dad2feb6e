"""Values that are of the right type and still make no sense, each refused with the key, the value and what is allowed."""
