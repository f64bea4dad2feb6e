"""A pin as launchers and files want it."""
