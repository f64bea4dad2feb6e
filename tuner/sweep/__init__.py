"""Many scenarios in one go."""
