"""The other side of each comparison; the packages run in environments of their own."""
