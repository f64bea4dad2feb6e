"""A step of a server: attention's share of it, and what is not attention, in sizes and as the rates of a machine make times of them."""
