"""Read texts: from files, folders, clouds and databases, a batch at a time, and from Python."""
