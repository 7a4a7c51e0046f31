"""What a contributor declares: that it works everywhere, or fails with a sentence."""
