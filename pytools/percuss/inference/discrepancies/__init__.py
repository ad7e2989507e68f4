"""Discrepancies: how data scatter about a forward model (Gupta et al., 2023, Eqs. C.5-C.7); one table in `registry`."""
