"""Fixtures of tests/support for all tests."""

pytest_plugins = ["support.engine", "support.file_server", "support.store_folder"]
