"""Programs of our own need: looked up safely, given an environment, spoken to."""
