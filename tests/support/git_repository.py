"""A git repository of a test's own, made by the real program with fixed names and dates."""

import subprocess
from pathlib import Path

DATE = "2020-02-03T04:05:06Z"
"""Author's and committer's date of every commit."""


class GitRepository:
    """A folder with a repository; `commit` records everything in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The work tree."""
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        """Its `file:` address."""
        return self.folder.as_uri()

    def write(self, path: str, text: str | bytes, *, mode: int = 0o644) -> None:
        """Put a file into the work tree."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        target.chmod(mode)

    def commit(self) -> str:
        """Commit the whole work tree, and give the commit's 40 digits."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a commit")
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        """Run git here, apart from the machine's configuration, and give its output."""
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "Author",
            "GIT_AUTHOR_EMAIL": "author@example.org",
            "GIT_AUTHOR_DATE": DATE,
            "GIT_COMMITTER_NAME": "Author",
            "GIT_COMMITTER_EMAIL": "author@example.org",
            "GIT_COMMITTER_DATE": DATE,
        }
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, check=True, capture_output=True)
        return done.stdout.decode().strip()
