"""Python packages that nobody published a wheel of: an sdist, a commit or a folder is built into one, once."""
