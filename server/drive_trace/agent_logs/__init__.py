"""What agents and their SDKs log, in their own formats: usage, and transcripts."""
