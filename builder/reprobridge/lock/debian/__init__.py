"""Debian packages in a lock: signed indexes, a resolver on top of a template's base, and mirrors."""
