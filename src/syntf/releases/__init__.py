"""Write a release: the job, its draft, its shards, and its files."""
