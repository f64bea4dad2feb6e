"""How long a run takes, and what of it a budget reaches."""
