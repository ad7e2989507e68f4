"""Models: what a run takes and gives, one table of kinds, one file a kind."""
