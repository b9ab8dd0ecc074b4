"""The user's home folder, where caches, settings and logins lie."""

import os
from collections.abc import Mapping
from pathlib import Path


def home_folder(environment: Mapping[str, str]) -> Path | None:
    """What HOME says, else what the system knows of the user; None where neither is an absolute path.

    An empty HOME would mean `/`, and a relative one another folder wherever one stands: both count as unset.
    """
    said = environment.get("HOME", "")
    if not said.startswith("/"):
        import pwd

        try:
            said = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a user whom the system does not know, as in many containers
            return None
    return Path(said) if said.startswith("/") else None
