"""Check a release without trusting whoever sent it."""
