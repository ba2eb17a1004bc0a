"""Settings, and the anonymizers that turn texts into counts under them."""
