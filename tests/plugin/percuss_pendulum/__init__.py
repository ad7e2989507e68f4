"""Pendulums for percuss: a sample of what a plugin can add."""
