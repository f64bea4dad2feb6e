"""A report as one page for a browser, which needs nothing beside it: no network, no script to be read."""
