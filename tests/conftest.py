"""Fixtures of tests/support and settings of hypothesis for all tests."""

import signal

from hypothesis import HealthCheck, settings

from support.require import tools_are_required

# Whoever runs the tests may ignore these, as `nohup` and a shell's `&` do; programs begin with what we have.
for number, usual in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

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
