"""A whole ledger as a static site: pages that are pure functions of events, and small scripts to look through them."""
