"""Judging maintainer scripts by reading them: alternatives, and effects that we cannot account for."""

import pytest

from reprobridge.assemble.deb.alternatives import parse_alternatives
from reprobridge.assemble.deb.facts import Alternative, Slave
from reprobridge.assemble.deb.scripts import (
    LACKING,
    effects_left_out,
    is_reviewed,
    unknown_effects,
    untriggered,
)

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
    assert parse_alternatives(script, "amd64") == (
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
    assert parse_alternatives(f"{HEAD}{call}\n", "amd64") == ((), False)


def test_a_commented_call_is_none() -> None:
    assert parse_alternatives("#!/bin/sh\n# update-alternatives --install /a b /c 1\n", "amd64") == ((), True)


def names(script: str, *files: str) -> tuple[list[str], bool]:
    """Names and paths of the alternatives, and whether these are all."""
    found, complete = parse_alternatives(HEAD + script, "amd64", files)
    return [
        f"{alternative.name} {alternative.path} {alternative.priority}" for alternative in found
    ], complete


def test_alternatives_of_a_loop_are_those_of_each_round() -> None:
    script = """
for tool in convert identify; do
    update-alternatives --install /usr/bin/$tool $tool /usr/bin/$tool-im6 ${priority:-10}
    update-alternatives --install "/usr/bin/$tool-im6" "$tool-im6" /usr/bin/$tool-im6.q16 10000
done
"""
    first, second = (
        "convert-im6 /usr/bin/convert-im6.q16 10000",
        "identify-im6 /usr/bin/identify-im6.q16 10000",
    )
    assert names(script) == ([first, second], False)


def test_alternatives_whose_words_a_function_prints_are_read() -> None:
    script = """
slave() {
    dir=$1 name=$2 target=$3
    echo "--slave $dir/$name $name $dir/$target"
}
update-alternatives --install /usr/bin/lzma lzma /usr/bin/xz 20 $(
    slave /usr/bin unlzma unxz
    for util in cat less
    do
        slave /usr/bin lz$util xz$util
    done
)
"""
    found, complete = parse_alternatives(HEAD + script, "amd64")
    slaves = [Slave(f"/usr/bin/{name}", name, f"/usr/bin/{to}") for name, to in PAIRS.items()]
    assert (found, complete) == (
        (Alternative("/usr/bin/lzma", "lzma", "/usr/bin/xz", 20, tuple(slaves)),),
        True,
    )


PAIRS = {"unlzma": "unxz", "lzcat": "xzcat", "lzless": "xzless"}

JAVA = """
basedir=/usr/lib/jvm/java
priority=1711
case "$1" in
configure)
    if [ -z "$2" ]; then
        update_alternatives=y
    fi
    if [ "$update_alternatives" = y ]; then
        if [ "$DPKG_MAINTSCRIPT_ARCH" != $(dpkg --print-architecture) ]; then
            priority=$(expr $priority - 1)
        fi
        for i in java keytool; do
            unset slave || true
            if [ -e $basedir/man/$i.1.gz ]; then
                slave="--slave /usr/share/man/man1/$i.1.gz $i.1.gz $basedir/man/$i.1.gz"
            fi
            if false && [ -e $basedir/man/ja/$i.1.gz ]; then
                slave=nonsense
            fi
            update-alternatives --install /usr/bin/$i $i $basedir/bin/$i $priority $slave
        done
    fi
    ;;
esac
"""


def test_alternatives_behind_tests_of_texts_and_of_own_files_are_certain() -> None:
    found, complete = parse_alternatives(
        HEAD + JAVA, "amd64", {"/usr/lib/jvm/java/man/java.1.gz", "/usr/lib/jvm/java/man/keytool.1.gz"}
    )
    assert complete
    assert found[0] == Alternative(
        "/usr/bin/java",
        "java",
        "/usr/lib/jvm/java/bin/java",
        1711,
        (Slave("/usr/share/man/man1/java.1.gz", "java.1.gz", "/usr/lib/jvm/java/man/java.1.gz"),),
    )
    assert [alternative.name for alternative in found] == ["java", "keytool"]


def test_an_alternative_whose_followers_only_a_machine_knows_is_there_without_them_and_said_to_be_so() -> (
    None
):
    found, complete = parse_alternatives(HEAD + JAVA, "amd64")
    assert [(alternative.name, alternative.slaves) for alternative in found] == [
        ("java", ()),
        ("keytool", ()),
    ]
    assert not complete


@pytest.mark.parametrize(
    "script",
    [
        "if [ -e /x ]; then p=10; else p=20; fi\n",
        "p=10\n[ -e /x ] && p=20\n",
        "p=10\nwhile grep -q x /y; do p=20; done\n",
        "p=10\nfor x in $(ls); do p=20; done\n",
        "p=10\ncase $(uname) in Linux) p=20;; *) ;; esac\n",
        "p=10\n. /etc/default/x\n",
        "p=10\nread p\n",
    ],
)
def test_a_value_that_depends_on_the_machine_is_never_taken_for_certain(script: str) -> None:
    assert names(f"{script}update-alternatives --install /usr/bin/x x /usr/bin/y $p\n") == ([], False)


@pytest.mark.parametrize(
    "script", ["( p=20 )\n", "true | p=20\n", 'x="$(p=20; echo y)"\n', "false && p=20\n"]
)
def test_what_happens_to_a_variable_elsewhere_does_not_count(script: str) -> None:
    found, complete = names(f"p=10\n{script}update-alternatives --install /usr/bin/x x /usr/bin/y $p\n")
    assert (found, complete) == (["x /usr/bin/y 10"], True)


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
        'if [ "$1" = upgrade ]; then\n  mv /etc/old /etc/new\nfi\n',
        'test -n "$2" && mv /etc/old /etc/new\ntrue\n',
        'if dpkg --compare-versions "$2" lt-nl 1.2; then\n  mv /etc/old /etc/new\nfi\n',
        'case "$1" in upgrade|abort-*) mv a b;; configure) :;; *) mv c d;; esac\n',
        "moved() {\n  mv $1 $2\n}\n",
        "for old in $(find /var -name x); do\n  rm -f $old\ndone\n",
        "cat /etc/x | while read line; do\n  echo $line\ndone >/dev/null 2>&1\n",
        "/usr/bin/python3.11 -E -S /usr/lib/python3.11/py_compile.py $files\n",
        "dpkg-statoverride --list /usr/bin/x >/dev/null\n",
        "sed -n -e '/^a/,$ s|[x]/\\(b*\\)|$1 \\1|gp' -e '1{/x/d;q}' /y | sort -u | awk -F: '$1 == \"a\" {print $2}'\n",
        "trap 'rm -f /x' EXIT\ntrap - EXIT\nexit 0\n",
        "function later {\n  local -n x=$1\n}\nlater y\n",
    ],
)
def test_scripts_without_effects_in_an_image_are_recognised(script: str) -> None:
    assert unknown_effects("some-package", "postinst", HEAD + script) == ()


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
        ("flag=no\n[ -e /x ] && flag=yes\nif [ $flag = yes ]; then\n  mkdir /y\nfi\n", "mkdir"),
        ("if [ -e /x ]; then exit 0; fi\nmkdir /y\n", "mkdir"),
        ('dpkg --compare-versions "$2" lt 1.2 && touch /x\n', "touch"),
        ('x="$(mktemp)"; cat /etc/y > "$x"\n', "> a computed command"),
        ("{ echo a; echo b; } >> /etc/x\n", "> /etc/x"),
        ("while read x; do echo $x; done < /a > /etc/x\n", "> /etc/x"),
        ("until [ -e /x ]; do\n  mknod /x p\ndone\n", "mknod"),
        ("command mkdir /x\n", "mkdir"),
        ("sed -n 'w /etc/x' /y\n", "sed"),
        ("sed 's/a/b/e' /y\n", "sed"),
        ("sed -e p -e 's/a/b/w /etc/x' /y\n", "sed"),
        ("sed '/a/{s/b/c/;e\n}' /y\n", "sed"),
        ("sed -f /x /y\n", "sed"),
        ('sed "$script" /y\n', "sed"),
        ("awk '{print > \"/etc/x\"}' /y\n", "awk"),
        ("awk 'BEGIN{system(\"x\")}'\n", "awk"),
        ("sort -uo /etc/x /y\n", "sort -o"),
        ("uniq /y /etc/x\n", "uniq"),
        ("find / -fprint /etc/x\n", "find -exec"),
        ("python3 -c 'x' /py_compile.py\n", "python3"),
        ("x=`useradd x`\n", "useradd"),
        ("/usr/bin/python3 /usr/lib/x/setup.py\n", "/usr/bin/python3"),
        ("if true; then\n  mkdir /x\n", "a script that cannot be followed"),
        ("f() {\n  f\n}\nf\n", "a script that cannot be followed"),
    ],
)
def test_every_other_command_is_named(script: str, expected: str) -> None:
    assert expected in unknown_effects("some-package", "postinst", HEAD + script)


def test_a_script_that_is_no_shell_script_is_named() -> None:
    assert unknown_effects("some-package", "postinst", "#!/usr/bin/perl\nprint 1;\n") == (
        "a script in another language",
    )


def test_a_script_before_unpacking_is_followed_as_a_first_installation() -> None:
    script = 'case "$1" in\n  install) ln -s a b;;\n  upgrade) mv a b;;\nesac\n'
    assert unknown_effects("some-package", "preinst", HEAD + script) == ("ln",)
    assert unknown_effects("some-package", "postinst", HEAD + script) == ()


def test_what_a_person_knows_to_be_left_out_is_said_in_words_and_once() -> None:
    scripts = {"preinst": f"{HEAD}mkdir /x\n", "postinst": f"{HEAD}locale-gen\n"}
    assert effects_left_out("locales", scripts) == (LACKING["locales"],)
    assert effects_left_out("other", scripts) == ("preinst: mkdir", "postinst: locale-gen")
    assert effects_left_out("other", {"preinst": "", "postinst": ""}) == ()


def test_a_package_is_either_reviewed_or_known_to_lack_something() -> None:
    assert not [package for package in LACKING if is_reviewed(package)]


def test_settings_of_glib_that_nobody_compiles_are_named() -> None:
    assert list(untriggered(["usr/share/glib-2.0/schemas/org.x.gschema.xml"]))
    assert not list(untriggered(["usr/share/glib-2.0/schemas/x.override", "usr/share/x/y.gschema.xml"]))


def test_loaders_of_images_that_nobody_registers_are_named() -> None:
    folder = "usr/lib/x86_64-linux-gnu/gdk-pixbuf-2.0/2.10.0/loaders"
    assert list(untriggered([f"{folder}/libpixbufloader-svg.so", "usr/lib/x/loaders/new.so"])) == []
    (effect,) = untriggered([f"{folder}/libpixbufloader-svg.so", f"{folder}/new.so"])
    assert effect == "register new.so, without which gdk-pixbuf opens no image of its kind"


def test_a_package_whose_scripts_were_read_is_not_asked_about_again() -> None:
    assert unknown_effects("base-passwd", "postinst", HEAD + "cp a b\n") == ()
    assert unknown_effects("python3.14-minimal", "postinst", HEAD + "cp a b\n") == ()
