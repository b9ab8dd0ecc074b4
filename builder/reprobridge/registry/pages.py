"""Lists that come in pages: `Link: <…>; rel="next"` (RFC 8288)."""

import json
import re
from collections.abc import Iterator, Mapping

from reprobridge.registry.challenge import Grants, pull
from reprobridge.registry.refusals import Reply
from reprobridge.registry.server import Server
from reprobridge.system.http import Request

_NEXT = re.compile(r'<([^>]*)>[^,]*;\s*rel\s*=\s*"?next"?', re.IGNORECASE)
_MOST_PAGES = 10_000


def list_tags(server: Server, repository: str) -> tuple[str, ...]:
    """All tags of a repository, sorted; none when there is no such repository. Raises RegistryError."""
    url = server.addresses.of(repository, "tags", "list", n="1000")
    first = server.request(Request(method="GET", url=url), pull(repository), {200, 404})
    if first.status == 404:
        return ()
    found: set[str] = set()
    for reply in pages(server, first, pull(repository)):
        tags = json_object(reply).get("tags", "nothing")
        if not (tags is None or (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags))):
            raise server.broken(
                "the registry sends no list of tags", expected="a JSON object with tags", found=_type(reply)
            )
        found.update(tags or ())
    return tuple(sorted(found))


def pages(server: Server, first: Reply, grants: Grants) -> Iterator[Reply]:
    """The first page and those that follow. Raises RegistryError."""
    yield first
    seen, reply = {first.url}, first
    while link := _NEXT.search(reply.headers.get("link", "")):
        url = server.addresses.follow(reply.url, link[1])
        if url in seen or not server.addresses.is_own(url) or len(seen) == _MOST_PAGES:
            raise server.broken(
                "the registry's pages lead nowhere", expected="the next page of this list", found="another"
            )
        seen.add(url)
        reply = server.request(Request(method="GET", url=url), grants, {200})
        yield reply


def json_object(reply: Reply) -> Mapping[str, object]:
    """The JSON object that an answer holds; an empty one when it holds something else."""
    try:
        found = json.loads(reply.data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _type(reply: Reply) -> str:
    return reply.headers.get("content-type", "something of no type")
