"""What to do where the file of a height field has no height: refuse it, or leave out the ground around."""

NODATA = ("refuse", "hole")
