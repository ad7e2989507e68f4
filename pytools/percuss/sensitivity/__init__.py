"""Sensitivity: which parameters the outputs depend on, from surrogates or straight from runs."""
