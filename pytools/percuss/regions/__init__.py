"""Confidence regions of time histories over the runs of a design, and how well they are known."""
