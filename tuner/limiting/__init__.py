"""What limits are asked, of backends, drivers and knobs, and what is said beside them."""
