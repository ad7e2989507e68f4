"""Coverage-guided fuzzing of what reads files and ledgers of strangers."""
