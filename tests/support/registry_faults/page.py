"""The page of the fault table, made from the table that the tests go through.

`PYTHONPATH=builder:tests python -m support.registry_faults.page` prints guides/reference/registry-faults.md; a
test holds the committed page equal.
"""

import re
import sys
from collections.abc import Iterable, Sequence

from fakes.registry.exchange import Phase
from support.registry_faults.model import Around, Case, GoesOn, Refuses
from support.registry_faults.table import CASES, GROUPS

_HEAD = f"""# What registries do wrong

Made by `python -m support.registry_faults.page` from the {len(CASES)} rows that the tests go through.

Networks break, registries stumble, and proxies answer in their name. Each row below is made to happen to our
client, over real connections, by a registry that otherwise keeps the distribution specification. Afterwards the
registry holds exactly what it should, or there is an error, with exit code 10, that names the registry, what was
expected and what was found; the same command, run again when the trouble is over, then succeeds. What arrived
before is not sent again.

- *once*, *twice*, *always*: how many requests of this kind meet the trouble; blank where it is just how the
  registry is.
- Waiting grows from try to try: five tries where connections break or the server fails, two where its name means no
  address, three for a mount, which an upload can replace, eight where it asks to come later, and no wait of more than
  two minutes. The first wait is said.
- Credentials go to the registry and to the token server that it names, to no other host, and never from https to
  http.
"""
_TAIL = """
## A whole publication

`publish` of an image with three layers, three tags and two attachments is broken at each of its requests in turn, by
a reset and by an answer that is lost, with the referrers API and without. At no moment does a tag name an image that
is not whole, with its attachments. Run again, it goes on: what stands there in the end is what an unbroken run
leaves, and no blob is taken twice. The same troubles, met once, do not end a publication at all.

A version tag that somebody else sets in the meantime is not overwritten: `publish` refuses. Blobs that the registry
lost, though manifests there name them, are brought again when it refuses a new manifest for them, and at any time by
`publish --check-blobs`, which asks for each; without it an image whose manifest is there counts as published.

## Known limits

A registry without the referrers API lists what refers to an image under a tag that clients read, change and write
back. Two who do so at the same time can undo each other: each looks whether its own entry is there afterwards, and
adds it again. Who looks before the other writes does not notice. Running `publish` again repairs it.
"""


def page() -> str:
    """The whole page, in Markdown."""
    return _HEAD + "".join(_group(title, cases) for title, cases in GROUPS) + _TAIL


def _group(title: str, cases: Sequence[Case]) -> str:
    jobs = dict.fromkeys(case.job.title for case in cases)
    tables = "".join(_table(job, [case for case in cases if case.job.title == job]) for job in jobs)
    return f"\n## {title}\n{tables}"


def _table(job: str, cases: Iterable[Case]) -> str:
    head = "| step | what goes wrong | how often | what comes of it |\n| --- | --- | --- | --- |\n"
    rows = "".join(f"| {' | '.join(cells)} |\n" for case in cases for cells in (_cells(case),))
    return f"\n### To {job}\n\n{head}{rows}"


def _cells(case: Case) -> Sequence[str]:
    faults = case.made(Around())
    step = case.where or (faults[0].where or Phase.UNKNOWN).value
    often = _OFTEN[faults[0].times] if faults else ""
    match case.then:
        case Refuses(message=message, also=also):
            words = " … ".join(_plain(word) for word in (message, *also) if word)
            comes = f"error: “{words}”; a rerun succeeds"
        case GoesOn(how=how):
            comes = how
    return step, case.says, often, comes


_OFTEN = {1: "once", 2: "twice", 3: "three times", None: "always"}


def _plain(word: str) -> str:
    """A word of an error without what differs from run to run."""
    return re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", word)


if __name__ == "__main__":
    sys.stdout.write(page())
