"""A Python package index on a FileServer: project pages in JSON (PEP 691) with sizes and upload times (PEP 700)."""

import json
from collections.abc import Iterable

from support.file_server import FileServer
from support.sdists import Sdist
from support.wheels import Wheel

UPLOADED = "2025-01-01T00:00:00Z"
"""Upload time of every file unless a test says otherwise: `exclude_newer` looks at it."""


def serve_index(
    server: FileServer,
    files: Iterable[Wheel | Sdist],
    *,
    at: str = "",
    uploaded: str = UPLOADED,
) -> str:
    """Serve files with pages for their projects, and return the index's URL (`…/simple`).

    Calling it again for a project replaces that project's page.
    """
    pages: dict[str, list[dict[str, object]]] = {}
    for file in files:
        url = server.put(f"{at}/files/{file.filename}", file.data)
        entry = {
            "filename": file.filename,
            "url": url,
            "hashes": {"sha256": file.sha256},
            "size": len(file.data),
            "upload-time": uploaded,
        }
        pages.setdefault(_project(file), []).append(entry)
    for project, entries in pages.items():
        _put_page(server, f"{at}/simple/{project}/", project, entries)
    return f"{server.url}{at}/simple"


def _put_page(server: FileServer, path: str, project: str, entries: list[dict[str, object]]) -> None:
    page = {
        "meta": {"api-version": "1.1"},
        "name": project,
        "versions": sorted({str(entry["filename"]).split("-")[1] for entry in entries}),
        "files": entries,
    }
    kind = "application/vnd.pypi.simple.v1+json"
    server.put(path, json.dumps(page).encode(), content_type=kind)


def _project(file: Wheel | Sdist) -> str:
    stem = file.filename.removesuffix(".tar.gz")
    return stem.split("-", 1)[0].replace("_", "-")
