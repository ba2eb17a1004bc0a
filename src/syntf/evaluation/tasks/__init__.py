"""What an analyst does with a release beside classifying: search, clusters, trends."""
