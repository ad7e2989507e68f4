"""From a study's observations and forward models to posteriors, predictions and comparisons in the ledger."""
