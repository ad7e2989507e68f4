"""The command line: a thin layer, one module a command. Nothing heavy is imported before a command runs."""
