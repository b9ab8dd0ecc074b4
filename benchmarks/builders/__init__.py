"""The builders that are compared, each behind the same three verbs."""
