"""What limits are asked, and what is said beside them."""
