"""The benchmark suite of `make bench`, which `bench.py` runs."""
