"""Settings, what they prepare, and the anonymizer that turns texts into counts."""
