"""Judging maintainer scripts by reading them: alternatives, and effects that we cannot account for."""

import pytest

from reprobridge.assemble.deb_alternatives import parse_alternatives
from reprobridge.assemble.deb_facts import Alternative, Slave
from reprobridge.assemble.deb_scripts import unknown_effects

HEAD = "#!/bin/sh\nset -e\n"


def test_alternatives_are_read_over_folded_lines_with_their_slaves() -> None:
    script = """#!/bin/sh
if [ "$1" = configure ]; then
    update-alternatives --quiet --install /usr/bin/awk awk /usr/bin/mawk 5 \\
        --slave /usr/share/man/man1/awk.1.gz awk.1.gz /usr/share/man/man1/mawk.1.gz \\
        --slave /usr/bin/nawk nawk /usr/bin/mawk || true
fi
"""
    slaves = (
        Slave("/usr/share/man/man1/awk.1.gz", "awk.1.gz", "/usr/share/man/man1/mawk.1.gz"),
        Slave("/usr/bin/nawk", "nawk", "/usr/bin/mawk"),
    )
    assert parse_alternatives(script) == (
        (Alternative("/usr/bin/awk", "awk", "/usr/bin/mawk", 5, slaves),),
        True,
    )


@pytest.mark.parametrize(
    "call",
    [
        'update-alternatives --install "/usr/bin/$name" $name /usr/lib/x/$name 100',
        "update-alternatives --install /usr/bin/x x `which y` 10",
        "update-alternatives --install /usr/bin/x x",
        'update-alternatives --install /usr/bin/x "unclosed',
    ],
)
def test_computed_alternatives_are_noticed(call: str) -> None:
    assert parse_alternatives(f"{HEAD}{call}\n") == ((), False)


def test_a_commented_call_is_none() -> None:
    assert parse_alternatives("#!/bin/sh\n# update-alternatives --install /a b /c 1\n") == ((), True)


@pytest.mark.parametrize(
    "script",
    [
        "",
        'if [ "$1" = "configure" ]; then\n\tldconfig\nfi\n',
        'case "$1" in\n  configure|abort-upgrade)\n    :\n  ;;\n  *)\n    echo "unknown \\`$1\'" >&2; exit 1\n  ;;\nesac\n',
        'dpkg-maintscript-helper rm_conffile /etc/x 1.0~ -- "$@"\n',
        ". /usr/share/debconf/confmodule\ndb_input high x/y || true\ndb_go\n",
        "if which py3compile >/dev/null 2>&1; then\n\tpy3compile -p pkg:any\nfi\n",
        "ours() {\n  return 0\n}\nours && ours || true\nX=$(dpkg --print-architecture)\n",
        "cat <<EOF\nadduser is only text here\nEOF\n",
        'systemd-tmpfiles ${DPKG_ROOT:+--root="$DPKG_ROOT"} --create x.conf || true\n',
        "# adduser in a comment\nrm -f /etc/old\n",
    ],
)
def test_scripts_without_effects_in_an_image_are_recognised(script: str) -> None:
    assert unknown_effects("some-package", HEAD + script) == ()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("adduser --system x\n", "adduser"),
        ("if ! getent passwd x >/dev/null; then useradd x; fi\n", "useradd"),
        ("true && chown root:x /var/x\n", "chown"),
        ('echo "x" > /etc/x\n', "> /etc/x"),
        ("echo x >>/etc/x\n", "> /etc/x"),
        ("sed -i s/a/b/ /etc/x\n", "sed -i"),
        ("X=1 install -d /var/x\n", "install"),
        ("for f in a b; do\n  touch $f\ndone\n", "touch"),
        ("case $1 in configure) mkdir /x ;; esac\n", "mkdir"),
        ("/usr/lib/x/setup\n", "/usr/lib/x/setup"),
        (". /usr/share/x/functions\n", "."),
        ('eval "$line"\n', "eval"),
        ("find /var/x -type d -exec chown x {} +\n", "find -exec"),
        ('"$program" --update\n', "a computed command"),
        ("helper() {\n  ln -s a b\n}\nhelper\n", "ln"),
    ],
)
def test_every_other_command_is_named(script: str, expected: str) -> None:
    assert expected in unknown_effects("some-package", HEAD + script)


def test_a_script_that_is_no_shell_script_is_named() -> None:
    assert unknown_effects("some-package", "#!/usr/bin/perl\nprint 1;\n") == ("a script in another language",)


def test_a_package_whose_scripts_were_read_is_not_asked_about_again() -> None:
    assert unknown_effects("base-passwd", HEAD + "cp a b\n") == ()
    assert unknown_effects("python3.14-minimal", HEAD + "cp a b\n") == ()
