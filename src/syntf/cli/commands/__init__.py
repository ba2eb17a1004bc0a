"""The commands and their options, a module each; what a command does is imported when it runs."""
