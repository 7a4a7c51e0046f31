"""File work: configuration, baseline, replacing files, and appending whole lines or nothing."""
