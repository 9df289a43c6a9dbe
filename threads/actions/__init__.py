"""Every write to what is said, one verb a file."""
