"""The reference page of the command line, made from the parsers themselves.

`python -m reprobridge.cli.reference` prints guides/reference/cli.md; a test holds the committed page equal.
Usage lines are written here and not by argparse, whose layout differs between Python versions.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping

from reprobridge.cli.main import COMMANDS, add_common, load_command

VARIABLES: Mapping[str, str] = {
    "`REPROBRIDGE_STORE`": "the store's folder; default: `reprobridge` below `XDG_CACHE_HOME` or `~/.cache`",
    "`REPROBRIDGE_VENDOR`": "folders made by `vendor`, separated by `:`; searched before any address",
    "`REPROBRIDGE_DEBIAN_MIRROR`": "addresses of Debian mirrors, separated by blanks; default: the host's apt sources",
    "`REPROBRIDGE_DEBIAN_SECURITY_MIRROR`": "likewise for Debian's security archive",
    "`REPROBRIDGE_DEBIAN_SNAPSHOT`": "address of the snapshot service that is asked last",
    "`UV_…`, `PIP_…`": "where uv and pip find Python packages, and with which certificates and credentials; "
    "what would change *which* release is chosen is not taken from them",
    "`XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS`, `HOME`": "where uv's, pip's and git's settings files are",
    "`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`": "proxies of all downloads",
    "`SSL_CERT_FILE`, `SSL_CERT_DIR`": "certificates that are trusted instead of the bundled ones",
    "`NETRC`": "file with logins for downloads; default: `~/.netrc`, which git reads too",
    "`GIT_SSH`, `GIT_SSH_COMMAND`, `GIT_ASKPASS`, `GIT_CONFIG_…`, `GIT_SSL_…`, `GIT_HTTP_…`, `GIT_PROXY_…`": "how git "
    "reaches a source, besides the settings files of git; other `GIT_…` variables are not read",
    "`REPROBRIDGE_KEY_PASSWORD`": "password of a private key; set and empty: none, and nobody is asked",
    "`REGISTRY_AUTH_FILE`, `DOCKER_CONFIG`, `XDG_RUNTIME_DIR`": "where docker's and podman's logins to container "
    "registries are",
    "`ACTIONS_ID_TOKEN_REQUEST_…`, `GITHUB_…`": "in GitHub Actions: the identity that `publish --keyless` signs as, and "
    "which run built the image",
    "`DOCKER_HOST` and docker's others": "which engine `--output docker:` and `--sandbox docker` talk to",
    "`NO_COLOR`": "no colours on a terminal",
}
"""Variable, or several of one kind -> what it does to `reprobridge`."""
LAUNCHER_VARIABLES: Mapping[str, str] = {
    "`TMPDIR`": "the scratch folder that is tried first, before `/tmp`, `/var/tmp` and `/dev/shm`",
    "`RRA_NONCE`": "a word that goes into the evidence, so that whoever started the run knows it again",
    "`RRA_IMAGE_DIGEST`": "the image's digest for the evidence: an image can't know its own",
    "`CUDA_VISIBLE_DEVICES`, `NVIDIA_VISIBLE_DEVICES`, `NVIDIA_DRIVER_CAPABILITIES`": "which GPUs; the only "
    "variables of a container that reach its tasks",
}
"""The same for an image's launcher (`docker run -e …`)."""
TASK_VARIABLES: Mapping[str, str] = {
    "`RRA_OUT`": "an empty folder for results; it becomes `outputs/` of the evidence",
    "`RRA_SEED`": "the seed of this run, in tasks with seeds",
    "`RRA_DATA`": "the folder of data sets",
}
"""What a task's command finds, besides the artifact's own `environment.variables`."""


def reference_text() -> str:
    """The whole page, in Markdown."""
    return "\n".join([_HEAD, *(_command(name) for name in COMMANDS), _everywhere(), _variables(), _TAIL])


_HEAD = """# Command line

Made by `python -m reprobridge.cli.reference` from the program itself.

- Data go to standard output, everything else to standard error, so `digest=$(reprobridge build)` works.
- Options stand after the command. `reprobridge COMMAND --help` says the same as this page.
- [Exit codes](exit-codes.md) are the same for all commands.
- Files and folders that are written for you have the modes that your umask leaves; a private key is readable for you
  alone. Blobs of a layout are the store's own files (hard links, 0644), unless your umask withholds any of that: then
  they are copies.
"""
_TAIL = """## The launcher in an image

`docker run IMAGE --help` lists the launcher's commands, `docker run IMAGE COMMAND --help` explains one.
[What stands where in an image](image.md) says where it reads and writes.
"""


def _command(name: str) -> str:
    parser = argparse.ArgumentParser()
    command = load_command(name)
    command.add_arguments(parser)
    actions = _declared(parser)
    words = [_positional(action) for action in actions if not action.option_strings]
    options = ["[OPTIONS]"] if any(action.option_strings for action in actions) else []
    usage = f"```text\n{' '.join(['reprobridge', name, *words, *options])}\n```\n"
    title = f"## {name}\n\n{command.SUMMARY[0].upper()}{command.SUMMARY[1:]}.\n"
    return "\n".join([title, usage, _table((_word(action), action.help or "") for action in actions)])


def _everywhere() -> str:
    parser = argparse.ArgumentParser()
    add_common(parser)
    rows = ((_word(action), action.help or "") for action in _declared(parser))
    return f"## Options of every command\n\n{_table(rows)}"


def _variables() -> str:
    pages = {
        "## Environment variables": VARIABLES,
        "### Of an image's launcher": LAUNCHER_VARIABLES,
        "### Of a task": TASK_VARIABLES,
    }
    return "\n".join(f"{title}\n\n{_table(table.items())}" for title, table in pages.items())


def _declared(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    actions = parser._actions  # noqa: SLF001 - argparse has no public way to ask what was declared
    return [action for action in actions if action.dest != "help"]


def _positional(action: argparse.Action) -> str:
    name = _name(action)
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "*":
            return f"[{name}…]"
        case "+":
            return f"{name}…"
        case _:
            return name


def _name(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(str(choice) for choice in action.choices)
    return str(action.metavar or action.dest.upper())


def _word(action: argparse.Action) -> str:
    """A word of the command line as it is typed."""
    if not action.option_strings:
        return f"`{_positional(action)}`"
    names = ", ".join(f"`{option}`" for option in action.option_strings)
    if action.nargs == 0:
        return names
    return f"{names} `{_positional(action)}`"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = ["| | |", "|---|---|"]
    lines += [f"| {_cell(word)} | {_cell(meaning)} |" for word, meaning in rows]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference_text())
