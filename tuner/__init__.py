"""The stories, top to bottom: settings, limits, plan, probe, race, decide, pin, check."""
