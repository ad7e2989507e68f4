"""Discrepancies: how data scatter about a forward model (Eqs. C.5-C.7), one file a kind, one table in `registry`."""
