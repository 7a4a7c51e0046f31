"""How one record is read: what is JSON, what is not, why, and what can still be made out."""
