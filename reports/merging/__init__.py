"""A pin's keys put into a YAML file of the user's: every byte that is not ours stays."""
