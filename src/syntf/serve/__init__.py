"""A service with one route for programs, and a page for people."""
