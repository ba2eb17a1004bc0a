"""The benchmark suite behind `make bench`; `bench.py` runs it."""
