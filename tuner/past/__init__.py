"""What became of an arm over many sittings."""
