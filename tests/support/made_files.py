"""What the wheels, packages and archives that tests make have in common."""

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class MadeFile:
    """A finished file and the name under which it is published."""

    filename: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Digest of the file, 64 hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.data)

    def write(self, folder: Path) -> Path:
        """Save under its own name in a folder and return the path."""
        path = folder / self.filename
        path.write_bytes(self.data)
        return path
