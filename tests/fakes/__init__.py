"""Fakes: working stand-ins for what lies outside, written from public specifications, with tests of their own."""
