"""Tables of the ledger as files for other programs."""
