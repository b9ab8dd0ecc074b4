"""Container registries: the distribution specification 1.1 as registries really speak it."""
