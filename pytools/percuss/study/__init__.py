"""Studies: intent written as TOML, checked against the model it names, and resolved to SI."""
