"""Past runs: in a line each, how long an arm took in all of them, what they were asked."""
