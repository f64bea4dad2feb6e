"""What is known of a board apart from any run's arms: its noise, and what a step takes beside attention."""
