"""Samplers of a posterior: one file each, one table in `registry`."""
