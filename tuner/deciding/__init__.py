"""The parts of a decision: what was measured, who may be picked, by how much it wins, and why."""
