"""Sensitivity: which parameters the outputs hang on, from surrogates or straight from runs."""
