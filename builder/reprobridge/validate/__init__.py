"""Checking a finished image in a clean shell: its bytes, its launcher, its tasks and its guide."""
