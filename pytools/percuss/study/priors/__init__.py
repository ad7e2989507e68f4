"""Priors of parameters: one file a kind, one table in `registry`."""
