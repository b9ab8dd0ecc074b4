"""Fixtures of tests/support and settings of hypothesis for all tests."""

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "fakes.registry.fixture",
    "support.artifacts",
    "support.containerd",
    "support.engine",
    "support.docker_registry",
    "support.file_server",
    "support.registries",
    "support.store_folder",
]

# Time never decides a test: a machine under load is no fault of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
