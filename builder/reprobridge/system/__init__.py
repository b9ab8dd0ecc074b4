"""The only doors to processes, the network and file writes.

Each door is a Protocol with one real implementation; everything else takes a door as an argument,
so that the pure parts can be tested without them and a test can put a fake behind a door.
"""
