"""Packages that papers ask for, on top of a base system: equal to what apt installs, and alive.

The same versions are installed by apt with every maintainer script, and the roots are compared path by path.
What differs stands in `DIFFERENCES` with its reason, and nothing else may; then the programs are used.
"""

import re
from collections.abc import Iterator

import pytest

from support import debian_install
from support.debian_install import Converted, converted, install, run_inside, unexplained
from support.merged_root import RootEntry

pytestmark = [pytest.mark.slow, pytest.mark.network]

CHOSEN = {
    "debian12-py311": (
        *("fonts-dejavu-core", "ghostscript", "git-lfs", "graphviz", "imagemagick", "liblapack3"),
        *("libgdk-pixbuf2.0-bin", "libopenblas0", "librsvg2-common", "openjdk-17-jre-headless"),
        *("poppler-utils", "xz-utils"),
    ),
}
"""What is installed on a template. Installing takes minutes, so these are few: at least one for each effect of ours that
programs depend on. Whoever changes how scripts are followed adds others for a run (`USES` has some more)."""
DIFFERENCES = {
    r"etc/(passwd|group|shadow|gshadow)-|etc/\.pwd\.lock": "backups and a lock of the programs that edit them",
    r"etc/(group|gshadow)": "groups for devices and for ssh-agent",
    r"etc/shadow": "the day on which no account got a password",
    r"etc/gitconfig": "git-lfs writes its lines in a random order; compared below",
    r"etc/ssl/certs/java/cacerts": "the moment of installing stands in it; compared below",
    r"usr/share/mime/(generic-icons|globs2|subclasses)": "in the order of a hash table; compared below",
    r"usr/share/mime/(globs|mime\.cache|treemagic|types|version|XMLnamespaces)": "GLib reads the others instead",
    r"usr/share/mime/(application|audio|font|image|inode|message|model|multipart|text|video|x-\w+)(/.*)?": (
        "descriptions of types in all languages, for menus"
    ),
    r"usr/bin/(chage|chfn|chsh|expiry|gpasswd|passwd|ssh-agent)": "set-uid and set-gid bits are dropped",
    r"usr/lib/openssh/ssh-keysign": "likewise",
    r"usr/local/share/fonts": "an empty folder",
    r"usr/share/fonts/X11/.*|var/lib/xfonts(/.*)?": "lists of an X server's own fonts",
    r"var/cache/fontconfig(/.*)?|var/log/fontconfig\.log": "a cache that programs do without",
    r"var/lib/dpkg/triggers/File": "in the order of unpacking; compared below",
    r"var/lib/ucf(/.*)?": "what ucf knows of earlier versions",
}
"""Path (whole match) -> why ours is not like apt's, besides those of the base system."""


@pytest.fixture(scope="module", params=sorted(CHOSEN))
def packages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Converted]:
    """Base and packages, today's versions on a template."""
    with converted(request.param, CHOSEN[request.param], tmp_path_factory) as made:
        yield made


@pytest.fixture(scope="module")
def installed(packages: Converted, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RootEntry]:
    """The same versions, installed by apt."""
    return install(packages.selection, tmp_path_factory)


def test_every_path_is_apts_but_for_the_named_differences(
    packages: Converted, installed: dict[str, RootEntry]
) -> None:
    explained = [*debian_install.DIFFERENCES, *DIFFERENCES]
    assert unexplained(packages.made.root, installed, explained) == []


def test_what_differs_only_in_order_and_time_has_the_same_content(
    packages: Converted, installed: dict[str, RootEntry]
) -> None:
    ours, theirs = packages.made.root, installed
    names = {deb.name for deb in packages.selection.debs}
    assert ("etc/gitconfig" in ours) == ("etc/gitconfig" in theirs) == ("git-lfs" in names)
    types = {f"usr/share/mime/{name}" for name in ("generic-icons", "globs2", "subclasses")}
    for path in {"var/lib/dpkg/triggers/File", "etc/gitconfig", *types} & ours.keys():
        assert sorted(ours[path].data.splitlines()) == sorted(theirs[path].data.splitlines()) != []
    java = "etc/ssl/certs/java/cacerts"
    assert java_names(ours[java].data) == java_names(theirs[java].data) != set()
    assert len(ours[java].data) == len(theirs[java].data)


def java_names(store: bytes) -> set[bytes]:
    """Names in a key store."""
    return set(re.findall(rb"debian:[^\0]+\.pem", store))


def test_no_package_is_named_needlessly(packages: Converted) -> None:
    assert packages.made.state["unknown"] == {}
    assert packages.made.problems == []


DRAW = """
echo '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>' > a.svg
printf 'P1 1 1 1' > a.pbm
for image in a.svg a.pbm; do
  gdk-pixbuf-thumbnailer -s 8 $image $image.png
  gdk-pixbuf-csource $image.png > a.c
done
cat a.c
"""


PRINT = """
printf '%%!PS\\n/Helvetica findfont 9 scalefont setfont 9 9 moveto (a) show showpage' > a.ps
gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=a.pdf a.ps
pdftotext a.pdf -
"""


USES = (
    ("openjdk", "java -version 2>&1", "OpenJDK"),
    ("openjdk", "keytool -list -cacerts -storepass changeit | grep -c trustedCertEntry", "1"),
    (
        "libopenblas0",
        "python3 -c 'import ctypes; print(ctypes.CDLL(\"libblas.so.3\").openblas_get_num_threads() > 0)'",
        "True",
    ),
    (
        "liblapack3",
        "python3 -c 'import ctypes; print(ctypes.CDLL(\"liblapack.so.3\").dgesv_ is not None)'",
        "True",
    ),
    ("libopenblas0", "python3 -c 'import ctypes.util as u; print(u.find_library(\"blas\"))'", "libblas.so.3"),
    ("openmpi-bin", "mpirun --version", "Open MPI"),
    ("graphviz", "echo 'digraph { a -> b }' | dot -Tsvg", "</svg>"),
    ("graphviz", "echo 'graph { a -- b }' | neato -Tpng | head -c 4 | tail -c 3", "PNG"),
    (
        "imagemagick",
        "convert -size 8x8 xc:red a.png; convert a.png -resize 50% a.jpg; identify a.jpg",
        "JPEG 4x4",
    ),
    ("espeak-ng", "espeak-ng -w a.wav hello; head -c 4 a.wav", "RIFF"),
    ("r-base-core", "Rscript -e 'cat(solve(matrix(c(2, 0, 0, 2), 2)))'", "0.5 0 0 0.5"),
    ("r-base-core", "R --version", "R version"),
    ("libgdk-pixbuf2.0-bin", DRAW, "rowstride"),
    ("fonts-dejavu-core", "fc-match sans", "DejaVu Sans"),
    ("gcc", "echo 'int main(void) { return 0; }' > a.c; cc a.c; ./a.out; c99 a.c; echo built", "built"),
    ("ghostscript", PRINT, "a"),
    ("xz-utils", "echo text | lzma | unlzma", "text"),
    ("git-lfs", "git config --get filter.lfs.process", "git-lfs filter-process"),
    ("python3-tk", "python3 -c 'import tkinter; print(tkinter.TkVersion)'", "8.6"),
    ("openjdk", "update-alternatives --query java", "Status: auto"),
)
"""A package (the beginning of its name), what is done with it, and what that must print."""


@pytest.mark.parametrize(
    ("packages", "script", "expected"),
    [
        pytest.param(template, script, expected, id=f"{template}: {script[:30]}")
        for template, chosen in CHOSEN.items()
        for package, script, expected in USES
        if any(name.startswith(package) for name in chosen)
    ],
    indirect=["packages"],
)
def test_programs_work(packages: Converted, script: str, expected: str) -> None:
    assert expected in run_inside(packages.folder, "sh", "-ec", script)


def test_dpkg_finds_nothing_wrong(packages: Converted) -> None:
    assert run_inside(packages.folder, "dpkg", "--audit") == ""
    listed = run_inside(packages.folder, "sh", "-ec", "dpkg -l | grep -c ^ii").strip()
    assert listed == str(len(packages.selection.debs))
