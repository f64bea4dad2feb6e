"""What runs in the engine's environment: opens the same drivers for the same cells, and has each tool time their calls.

It travels beside `backends` to a worker, where its package is called `contest`: nothing here imports the controller's code.
"""
