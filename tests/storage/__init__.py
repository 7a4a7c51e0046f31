"""What is written to disk: whole lines or nothing, whoever else writes and whatever goes wrong."""
