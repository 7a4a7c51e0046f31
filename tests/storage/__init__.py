"""File work: configuration, baseline, replacing files."""
