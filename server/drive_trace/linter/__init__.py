"""What is wrong with a trace: the rules, the entities that they look at, and their settings."""
