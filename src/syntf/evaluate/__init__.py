"""Measure what releases of some texts keep and reveal: for the owner, outside the guarantee."""
