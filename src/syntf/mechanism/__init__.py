"""The mechanisms: integer tables, the loss measured on them, and the exact samplers."""
