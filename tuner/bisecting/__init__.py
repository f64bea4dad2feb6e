"""From two releases to the one where attention turned: which there are, which to ask next, what its answer means."""
