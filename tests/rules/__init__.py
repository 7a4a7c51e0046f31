"""Every rule by its own examples, what holds of all rules, and what the examples do not show."""
