"""Where the scenarios of a sweep run, and how many at a time."""
