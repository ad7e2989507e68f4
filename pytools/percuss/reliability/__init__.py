"""Probabilities of failure in standard normal space: arrays in, arrays out; knows no ledger."""
