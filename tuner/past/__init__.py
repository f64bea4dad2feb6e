"""Past runs: where one comes from, what it recorded, and what became of an arm over many sittings."""
