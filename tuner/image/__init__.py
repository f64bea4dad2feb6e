"""What is installed in an image, read from a list of its packages: no GPU, no worker, no network."""
