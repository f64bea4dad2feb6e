"""What an engine says of itself: what it answers and picks, why, and what comes with serving by an arm."""
