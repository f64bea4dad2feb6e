"""What was found of a serving environment and of servers that run in one."""
