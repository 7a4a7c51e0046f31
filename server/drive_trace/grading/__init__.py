"""Judging a run's intent: what a model is asked, how its reply is read, and how far it is trusted.

Pure: who asks the model, and where the records lie, is for the layers above.
"""
