"""The report: metrics, assertions, timelines, and how they are shown."""
