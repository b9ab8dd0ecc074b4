"""What was resolved: every wish of the spec as an exact, hash-pinned entry."""
