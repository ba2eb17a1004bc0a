"""What is promised: bounds, accounting at a delta, and the record of a guarantee."""
