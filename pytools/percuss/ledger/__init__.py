"""The append-only ledger: events in a hash chain of Parquet files, payloads by content."""
