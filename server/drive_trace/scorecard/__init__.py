"""The two-tier scorecard: a correctness gate first, efficiency for CORRECT runs only."""
