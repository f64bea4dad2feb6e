"""What a server of this scenario holds and computes: ranks, weights, KV pool, the work of a step, and the cells that stand for it."""
