"""The loaders of gdk-pixbuf: what each tells of itself, by the file's name.

gdk-pixbuf opens only files of the types that stand in a list, which `gdk-pixbuf-query-loaders` writes by loading
each module and asking it. What modules of bookworm and trixie answer is written down here, and what is not here is
named in a note.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

MODULES = re.compile(r"usr/lib/[^/]+/gdk-pixbuf-2\.0/[^/]+/loaders/([^/]+\.so)")
"""Where loaders lie."""


class Loader(NamedTuple):
    """What a loader answers, as it stands in the list."""

    head: str
    """Name, flags, domain of translations, description and license."""
    types: str
    """Types of files, with spaces between."""
    endings: str
    """Endings of files' names, likewise."""
    patterns: tuple[str, ...]
    """What files begin with: bytes, mask and weight."""


_SVG = Loader(
    '"svg" 6 "gdk-pixbuf" "Scalable Vector Graphics" "LGPL"',
    "image/svg+xml image/svg image/svg-xml image/vnd.adobe.svg+xml text/xml-svg image/svg+xml-compressed",
    "svg svgz svg.gz",
    (
        '" <svg" "*    " 100',
        '" <!DOCTYPE svg" "*             " 100',
    ),
)

LOADERS: Mapping[str, Loader] = {
    "io-wmf.so": Loader(
        '"wmf" 0 "gdk-pixbuf" "Windows Metafile" ""',
        "image/x-wmf",
        "wmf apm",
        (
            r'"\327\315\306\232" "" 100',
            r'"\001" "" 100',
        ),
    ),
    "libpixbufloader-ani.so": Loader(
        '"ani" 4 "gdk-pixbuf" "Windows animated cursor" "LGPL"',
        "application/x-navi-animation",
        "ani",
        ('"RIFF    ACON" "    xxxx    " 100',),
    ),
    "libpixbufloader-avif.so": Loader(
        '"avif" 5 "gdk-pixbuf" "AV1 Image File Format" "BSD"',
        "image/avif",
        "avif",
        ('"    ftypavif" "zzz         " 100',),
    ),
    "libpixbufloader-bmp.so": Loader(
        '"bmp" 5 "gdk-pixbuf" "BMP" "LGPL"',
        "image/bmp image/x-bmp image/x-MS-bmp",
        "bmp",
        ('"BM" "" 100',),
    ),
    "libpixbufloader-gif.so": Loader(
        '"gif" 4 "gdk-pixbuf" "GIF" "LGPL"',
        "image/gif",
        "gif",
        ('"GIF8" "" 100',),
    ),
    "libpixbufloader-heif.so": Loader(
        '"heif/avif" 4 "pixbufloader-heif" "HEIF/AVIF Image" "LGPL3"',
        "image/heif image/heic image/avif",
        "heif heic avif",
        ('"    ftyp" "xxxx    " 100',),
    ),
    "libpixbufloader-icns.so": Loader(
        '"icns" 4 "gdk-pixbuf" "MacOS X icon" "GPL"',
        "image/x-icns",
        "icns",
        ('"icns" "" 100',),
    ),
    "libpixbufloader-ico.so": Loader(
        '"ico" 5 "gdk-pixbuf" "Windows icon" "LGPL"',
        "image/x-icon image/x-ico image/x-win-bitmap image/vnd.microsoft.icon "
        "application/ico image/ico image/icon text/ico",
        "ico cur",
        (
            r'"  \001   " "zz znz" 100',
            r'"  \002   " "zz znz" 100',
        ),
    ),
    "libpixbufloader-jxl.so": Loader(
        '"jxl" 5 "gdk-pixbuf" "JPEG XL image" "BSD-3"',
        "image/jxl",
        "jxl",
        (
            r'"\377\n" "  " 100',
            r'"...\fJXL \r\n\207\n" "zzz         " 100',
        ),
    ),
    "libpixbufloader-pnm.so": Loader(
        '"pnm" 4 "gdk-pixbuf" "PNM/PBM/PGM/PPM" "LGPL"',
        "image/x-portable-anymap image/x-portable-bitmap image/x-portable-graymap image/x-portable-pixmap",
        "pnm pbm pgm ppm",
        (
            '"P1" "" 100',
            '"P2" "" 100',
            '"P3" "" 100',
            '"P4" "" 100',
            '"P5" "" 100',
            '"P6" "" 100',
        ),
    ),
    "libpixbufloader-qtif.so": Loader(
        '"qtif" 4 "gdk-pixbuf" "QuickTime" "LGPL"',
        "image/x-quicktime image/qtif",
        "qtif qif",
        (
            '"abcdidsc" "xxxx    " 100',
            '"abcdidat" "xxxx    " 100',
        ),
    ),
    "libpixbufloader-svg.so": _SVG,
    "libpixbufloader_svg.so": _SVG,
    "libpixbufloader-tga.so": Loader(
        '"tga" 4 "gdk-pixbuf" "Targa" "LGPL"',
        "image/x-tga",
        "tga targa",
        (
            r'" \001\001" "x  " 100',
            r'" \001\t" "x  " 100',
            r'"  \002" "xz " 99',
            r'"  \003" "xz " 100',
            r'"  \n" "xz " 100',
            r'"  \v" "xz " 100',
        ),
    ),
    "libpixbufloader-tiff.so": Loader(
        '"tiff" 5 "gdk-pixbuf" "TIFF" "LGPL"',
        "image/tiff",
        "tiff tif",
        (
            '"MM *" "  z " 100',
            '"II* " "   z" 100',
            r'"II* \020   CR\002 " "   z zzz   z" 0',
        ),
    ),
    "libpixbufloader-webp.so": Loader(
        '"webp" 5 "gdk-pixbuf" "The WebP image format" "LGPL"',
        "image/webp audio/x-riff",
        "webp",
        ('"RIFFsizeWEBP" "    xxxx    " 100',),
    ),
    "libpixbufloader-xbm.so": Loader(
        '"xbm" 4 "gdk-pixbuf" "XBM" "LGPL"',
        "image/x-xbitmap",
        "xbm",
        (
            '"#define " "" 100',
            '"/*" "" 50',
        ),
    ),
    "libpixbufloader-xpm.so": Loader(
        '"xpm" 4 "gdk-pixbuf" "XPM" "LGPL"',
        "image/x-xpixmap",
        "xpm",
        ('"/* XPM */" "" 100',),
    ),
}
"""Module -> its answer."""


def unknown_loaders(paths: Iterable[str]) -> Iterator[str]:
    """Names of the loaders among a package's files that are not known here."""
    names = (match[1] for path in paths if (match := MODULES.fullmatch(path)))
    return (name for name in names if name not in LOADERS)


def loader_paragraph(path: str) -> str | None:
    """The part of the list for the module at an absolute path; None when it is not known here."""
    loader = LOADERS.get(path.rpartition("/")[2])
    if loader is None:
        return None
    rows = (loader.head, _quoted(loader.types), _quoted(loader.endings), *loader.patterns)
    return "".join(f"{row}\n" for row in (f'"{path}"', *rows, ""))


def _quoted(words: str) -> str:
    return " ".join(f'"{word}"' for word in (*words.split(" "), ""))
