"""The document unit: public prototypes, the encoder that finds the nearest, and the pilot."""
