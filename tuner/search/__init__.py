"""The search among knobs: what there is to try, a screen of it in one process, and the settings that are worth a race."""
