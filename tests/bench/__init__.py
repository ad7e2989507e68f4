"""Benchmarks of the Python side. Each prints a ratio measured within one run, and the limit it is held against."""
