"""Running designs: batches of runs, campaigns of batches, and the proofs that repeat them."""
