"""`python -m percuss` is the same as `percuss`."""

from percuss.cli.app import main

main()
