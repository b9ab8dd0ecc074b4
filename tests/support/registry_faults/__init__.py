"""The table of what registries do wrong, and of what our client makes of it.

One table for the tests (tests/integration/test_registry_faults.py) and for the page that readers see
(guides/reference/registry-faults.md, made by `page.py`).
"""
