"""What can be said of a pin without measuring: known issues of what is there now, and what the engine makes of the pin's flags."""
