"""Many scenarios in one go: what they would cost, and what each came to."""
