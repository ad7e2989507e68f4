"""The kinds of events, one file each: body, what it comes from, tables, how it is read and repeated."""
