"""The sections of a report, one file each; which kind of event has which is in `registry`."""
