"""The controller's end of the line to a worker."""
