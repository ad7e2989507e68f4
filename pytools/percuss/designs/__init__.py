"""Designs of experiments: points in the unit cube carried through the priors of a study."""
