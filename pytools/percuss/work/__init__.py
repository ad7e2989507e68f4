"""What percuss does, one file a verb: functions over a `Session`, for the command line, for Python, for tests."""
