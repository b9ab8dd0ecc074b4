"""Bytecode, compiled by the image's own interpreter in a sandbox."""
