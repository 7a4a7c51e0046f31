"""All file work: finding traces, reading them, and what is written beside them."""
