"""Surrogates: from the runs of a design to cheap stand-ins of the model, with errors that can be trusted."""
