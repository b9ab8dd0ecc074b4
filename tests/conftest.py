"""Fixtures of tests/support and settings of hypothesis for all tests."""

from hypothesis import HealthCheck, settings

from support.require import tools_are_required

pytest_plugins = [
    "fakes.registry.fixture",
    "support.artifacts",
    "support.containerd",
    "support.engine",
    "support.docker_registry",
    "support.file_server",
    "support.index_user",
    "support.module_folder",
    "support.registries",
    "support.store_folder",
]

# Time never decides a test: a machine under load is no fault of the code. Nor does chance where a run decides on a
# change: other examples are looked for where somebody works, and what is found becomes an example of its own.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=tools_are_required(),
)
settings.load_profile("untimed")
