"""Side-by-side runs of ReproBridge and other image builders: `python -m benchmarks`, or `make bench`."""
