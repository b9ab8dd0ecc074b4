"""From a wheel to a fragment: what `pip install` would have written, without installing.

Files come first, in the order of their paths, each with its DEFLATE stream passed on where that is smaller
(`oci/members.py`); then what an installer adds: wrappers of entry points, INSTALLER, direct_url.json, RECORD.
REQUESTED is not among it: it would make a package's layer depend on the paper that asked for it.
Omitted paths are left out of RECORD too, so that RECORD is true of what is installed.
"""

from collections.abc import Mapping

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import DeflatedFile, FragmentWriter
from reprobridge.assemble.spelling import same_but_for_case, told
from reprobridge.assemble.wheel.archive import WheelArchive, open_wheel
from reprobridge.assemble.wheel.directory import broken
from reprobridge.assemble.wheel.facts import WheelFacts, write_facts
from reprobridge.assemble.wheel.layout import Layout, PlacedFile, refuse_clashes, site_packages
from reprobridge.assemble.wheel.metadata import read_metadata
from reprobridge.assemble.wheel.record import Recorded, disagreements, write_record
from reprobridge.assemble.wheel.scripts import PLACEHOLDER, rewritten, wrappers
from reprobridge.oci.members import LIGHT
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.model import WheelRecipe

INSTALLER = b"reprobridge\n"
"""Content of the file that says who installed a package."""


def convert(recipe: WheelRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes | None:
    """Write the wheel's files as they stand in the environment; the facts are a `WheelFacts`."""
    with open_wheel(inputs.path(recipe.wheel.sha256), recipe.wheel.name) as archive:
        return _Conversion(recipe, archive, writer).run()


class _Conversion:
    """One wheel on its way."""

    def __init__(self, recipe: WheelRecipe, archive: WheelArchive, writer: FragmentWriter) -> None:
        self._recipe = recipe
        self._archive = archive
        self._writer = writer
        self._metadata = read_metadata(archive)
        self._site = site_packages(recipe.python)
        self._info = f"{self._site}/{self._metadata.folder}"
        self._rewritten: dict[str, Recorded] = {}  # shipped scripts, by archive path

    def run(self) -> bytes:
        """Write everything; gives the facts."""
        self._writer.level = LIGHT
        layout = Layout(archive=self._archive, metadata=self._metadata, python=self._recipe.python)
        record = f"{self._info}/RECORD"
        added = self._added()
        files = [file for file in layout.place() if file.path not in added and file.path != record]
        refuse_clashes(self._archive.name, [*(file.path for file in files), *added, record])
        omitted = set(self._recipe.omit)
        files = [file for file in files if file.path not in omitted]
        for file in files:
            self._install(file)
        for path, (mode, data) in added.items():
            if path not in omitted:
                self._write(path, mode, data)
        installed = {row.path: Recorded.of_digest(row.content, row.size) for row in self._writer.settled()}
        shipped = {file.member.name: installed[file.path] for file in files} | self._rewritten
        if record not in omitted:
            self._write(record, 0o644, write_record(installed, site=self._site, record=record))
        return write_facts(self._facts(shipped))

    def _added(self) -> dict[str, tuple[int, bytes]]:
        """Mode and bytes of what an installer adds, by path; it replaces what a wheel ships in its place."""
        added = {path: (0o755, text) for path, text in wrappers(self._metadata, self._recipe.python).items()}
        added[f"{self._info}/INSTALLER"] = (0o644, INSTALLER)
        if self._recipe.origin is not None:
            added[f"{self._info}/direct_url.json"] = (0o644, self._recipe.origin.encode())
        return added

    def _install(self, file: PlacedFile) -> None:
        member = file.member
        if file.script and self._archive.begins(member, PLACEHOLDER):
            data = self._archive.read(member)
            self._rewritten[member.name] = Recorded.of(data)
            self._write(file.path, file.mode, rewritten(data))
            return
        entry = TarEntry(file.path, EntryKind.FILE, file.mode, member.size)
        if not member.deflated:
            self._writer.blocks(entry, self._archive.content(member))
            return
        source = f"{self._archive.name}: {member.name}"
        packed = self._archive.packed(member)
        self._writer.deflated(DeflatedFile(entry, member.crc, member.packed_size, packed, source))

    def _write(self, path: str, mode: int, data: bytes) -> None:
        self._writer.file(TarEntry(path, EntryKind.FILE, mode, len(data)), data)

    def _facts(self, shipped: Mapping[str, Recorded]) -> WheelFacts:
        metadata = self._metadata
        return WheelFacts(
            folder=metadata.folder,
            license_expression=metadata.one("license-expression"),
            license=metadata.one("license"),
            classifiers=tuple(
                value for value in metadata.headers.get("classifier", ()) if value.startswith("License ::")
            ),
            warnings=(*metadata.warnings, *self._spellings()),
            record_warnings=self._record_warnings(shipped),
        )

    def _spellings(self) -> tuple[str, ...]:
        spellings = same_but_for_case(row.path for row in self._writer.entries)
        twice = [same for same in spellings.values() if len(same) > 1]
        return (told(twice),) if twice else ()

    def _record_warnings(self, shipped: Mapping[str, Recorded]) -> tuple[str, ...]:
        path = f"{self._metadata.folder}/RECORD"
        member = self._archive.members.get(path)
        if member is None:
            raise broken(self._archive.name, path, "this file", "none")
        record = self._archive.read(member)
        names = self._archive.members.keys()
        return tuple(disagreements(record, shipped, names=names, folder=self._metadata.folder))
