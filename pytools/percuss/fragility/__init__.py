"""Fragility curves: the probability of damage against intensity, from runs; arrays in, arrays out."""
