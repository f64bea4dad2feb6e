"""What commands found, as values: whether something changed, how times compare, whether a default is right."""
