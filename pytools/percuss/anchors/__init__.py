"""Anchors: what is kept outside of a ledger to show later that nothing of it was cut off or rewritten."""
