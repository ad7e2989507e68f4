"""Surrogates: from the runs of a design to cheap surrogates of the model, with errors that can be trusted."""
