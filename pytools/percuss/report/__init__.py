"""Pictures of what the ledger holds. Needs the extra `report` (matplotlib)."""
