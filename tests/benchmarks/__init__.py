"""Benchmarks: `python -m tests.benchmarks NAME …` measures and prints; nothing here runs with the tests."""
