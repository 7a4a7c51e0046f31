"""The two-tier scorecard: who is judged by what, what it cost, and how it is said."""
