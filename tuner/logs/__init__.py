"""The logs of servers: files and their rotated parts, and lines without what loggers and runtimes put around them."""
