"""What a server of this scenario computes in a step, before it is a cell."""
