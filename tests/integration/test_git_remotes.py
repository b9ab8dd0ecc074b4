"""Commits from servers: over https with logins and over ssh, reached by the user's own git configuration."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.errors import LockError, NetworkError, ReproBridgeError
from reprobridge.lock.doors import Doors
from reprobridge.lock.folder import read_folder
from reprobridge.lock.sdist.source import bring_wish
from reprobridge.lock.source import lock_source
from reprobridge.lock.tree import tree_rows
from reprobridge.spec.model import GitSource
from reprobridge.spec.requirement_source import SourceWish
from reprobridge.system.network import Network, Offline
from support.git_repository import GitRepository
from support.git_server import GitServer
from support.lock_doors import doors, impatient, temporary_files
from support.specs import sample_spec
from support.ssh_server import SshServer, ssh_server


class Home:
    """A user's folder, whose git configuration grows line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / ".gitconfig"

    def set(self, section: str, *lines: str) -> None:
        """Add a section."""
        with self.settings.open("a") as file:
            file.write("\n\t".join((f"[{section}]", *lines)) + "\n")

    def set_login(self, user: str, password: str) -> None:
        """Have a credential helper that knows one login."""
        answer = f"test $1 = get && echo username={user} && echo password={password}"
        self.set("credential", f'helper = "!f() {{ {answer}; }}; f"')

    def doors(self, *, network: Network | None = None, **environment: str) -> Doors:
        """Doors of this user, with a store of their own."""
        return doors(
            self.folder / "store",
            network=network or impatient(),
            environment={"HOME": str(self.folder), **environment},
        )


@pytest.fixture
def home(tmp_path: Path, server: GitServer) -> Home:
    folder = tmp_path / "home"
    folder.mkdir()
    user = Home(folder)
    user.set("http", f"sslCAInfo = {server.certificate}")
    return user


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with GitServer(tmp_path / "server") as running:
        yield running


@pytest.fixture(scope="module")
def sshd(module_folder: Path) -> Iterator[SshServer]:
    with ssh_server(module_folder / "server") as running:
        yield running


@pytest.fixture
def upstream(server: GitServer) -> GitRepository:
    repository = GitRepository(server.root / "upstream")
    repository.write("run.py", "print(1)\r\n")
    repository.commit()
    return repository


def lock(opened: Doors, url: str, commit: str, *, submodules: bool = False) -> list[str]:
    """The paths of what was locked; its lock names the address as it was given, and no password."""
    source = GitSource(url, commit, submodules=submodules)
    resolved = lock_source(sample_spec(source=source), Path("/nowhere"), opened)
    assert "secret" not in repr(resolved)
    assert resolved.locked.origin == url
    return list(tree_rows(opened.store, resolved.locked.tree))


def refusal(opened: Doors, url: str, commit: str, error: type[ReproBridgeError] = NetworkError) -> str:
    with pytest.raises(error) as raised:
        lock(opened, url, commit)
    assert not temporary_files(opened.store.root)
    assert "secret" not in str(raised.value)
    return str(raised.value)


def head(repository: GitRepository) -> str:
    return repository.git("rev-parse", "HEAD")


class TestHttps:
    def test_a_credential_helper_and_a_certificate_of_the_users_configuration_are_used(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        home.set_login("ann", "secret")
        assert lock(home.doors(), server.url("upstream"), head(upstream)) == ["run.py"]
        assert server.asked[-1][1] == "ann"

    def test_the_tree_is_that_of_the_repository(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        opened = home.doors()
        spec = sample_spec(source=GitSource(server.url("upstream"), head(upstream)))
        expected = read_folder(opened.store, upstream.folder, (".git",)).kept.tree
        assert lock_source(spec, Path("/nowhere"), opened).locked.tree == expected

    def test_a_netrc_answers(self, home: Home, server: GitServer, upstream: GitRepository) -> None:
        server.logins["ann"] = "secret"
        (home.folder / ".netrc").write_text("machine 127.0.0.1 login ann password secret\n")
        assert lock(home.doors(), server.url("upstream"), head(upstream)) == ["run.py"]

    def test_a_program_in_git_askpass_answers(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["secret"] = "secret"
        program = home.folder / "askpass"
        program.write_text("#!/bin/sh\necho secret\n")
        program.chmod(0o755)
        opened = home.doors(GIT_ASKPASS=str(program))
        assert lock(opened, server.url("upstream"), head(upstream)) == ["run.py"]

    def test_a_program_that_asks_people_is_not_started(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        program = home.folder / "window"
        program.write_text(f"#!/bin/sh\ntouch {home.folder}/opened\n")
        program.chmod(0o755)
        home.set("core", f"askPass = {program}")
        refusal(home.doors(SSH_ASKPASS=str(program), DISPLAY=":0"), server.url("upstream"), head(upstream))
        assert not (home.folder / "opened").exists()

    def test_variables_of_git_configure_it_as_well(
        self, tmp_path: Path, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        opened = doors(
            tmp_path / "store",
            network=impatient(),
            environment={
                "HOME": "/nowhere",
                "GIT_SSL_CAINFO": str(server.certificate),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.{server.base.replace('//', '//ann:secret@')}.insteadOf",
                "GIT_CONFIG_VALUE_0": server.base,
            },
        )
        assert lock(opened, server.url("upstream"), head(upstream)) == ["run.py"]

    def test_an_address_is_rewritten_as_the_user_says(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        home.set(f'url "{server.base}"', "insteadOf = https://git.example.org/lab/")
        assert lock(home.doors(), "https://git.example.org/lab/upstream", head(upstream)) == ["run.py"]

    def test_a_mirror_on_this_machine_works_offline(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        home.set(f'url "{server.root.as_uri()}/"', "insteadOf = https://git.example.org/")
        opened = home.doors(network=Offline())
        assert lock(opened, "https://git.example.org/upstream", head(upstream)) == ["run.py"]

    def test_a_section_that_is_included_for_this_remote_counts(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        home.set('includeIf "hasconfig:remote.*.url:https://git.example.org/**"', "path = lab")
        (home.folder / "lab").write_text(f'[url "{server.base}"]\n\tinsteadOf = https://git.example.org/\n')
        assert lock(home.doors(), "https://git.example.org/upstream", head(upstream)) == ["run.py"]

    def test_offline_no_server_is_asked(self, home: Home, server: GitServer, upstream: GitRepository) -> None:
        message = refusal(home.doors(network=Offline()), server.url("upstream"), head(upstream))
        assert "drop --offline" in message
        assert server.asked == []

    def test_submodules_with_relative_addresses_come_from_the_same_server(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        home.set_login("ann", "secret")
        upstream.git("clone", "--quiet", "--bare", ".", "../inner.git")
        upstream.git("submodule", "--quiet", "add", "../inner.git", "libs/inner")
        found = lock(home.doors(), server.url("upstream"), upstream.commit(), submodules=True)
        assert "libs/inner/run.py" in found

    def test_a_package_that_is_built_from_a_commit_is_reached_in_the_same_way(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        home.set_login("ann", "secret")
        opened, commit = home.doors(), head(upstream)
        wish = SourceWish(place="requirements", kind="git", origin=server.url("upstream"), commit=commit)
        assert list(tree_rows(opened.store, bring_wish(wish, Path("/nowhere"), opened).source.tree)) == [
            "run.py"
        ]

    def test_a_commit_inside_of_the_history_is_fetched(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        first = head(upstream)
        upstream.write("run.py", "print(2)\n")
        upstream.commit()
        assert lock(home.doors(), server.url("upstream"), first) == ["run.py"]

    def test_a_server_that_gives_no_single_commits_is_asked_for_all_branches_and_tags(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.gives_single_commits = False
        first = head(upstream)
        upstream.write("run.py", "print(2)\n")
        upstream.commit()
        upstream.git("tag", "release", first)
        assert lock(home.doors(), server.url("upstream"), first) == ["run.py"]
        opened = home.doors()
        assert "none on any branch or tag" in refusal(opened, server.url("upstream"), "0" * 40, LockError)

    def test_a_commit_that_is_not_there_is_named(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        message = refusal(home.doors(), server.url("upstream"), "0123456789" * 4, LockError)
        assert "0123456789" * 4 in message
        assert server.url("upstream") in message
        assert head(upstream) not in message

    def test_a_transfer_that_breaks_off_is_begun_anew(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        upstream.write("data.bin", bytes(range(256)) * 400)
        commit = upstream.commit()
        server.breaks = 2
        assert lock(home.doors(), server.url("upstream"), commit) == ["data.bin", "run.py"]
        assert server.breaks == 0

    def test_a_server_that_always_breaks_off_is_an_error_after_some_attempts(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.breaks = 100
        message = refusal(home.doors(), server.url("upstream"), head(upstream))
        assert "try again" in message
        assert 100 - server.breaks == 3

    def test_a_wrong_password_is_said_once_and_masked(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "right"
        home.set(
            f'url "{server.base.replace("//", "//ann:secret@")}"', "insteadOf = https://git.example.org/"
        )
        message = refusal(home.doors(), "https://git.example.org/upstream", head(upstream))
        assert "Authentication failed" in message
        assert "credential helper" in message
        assert len([user for _, user in server.asked if user == "ann"]) == 1

    def test_without_a_login_the_error_says_how_to_give_one(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        server.logins["ann"] = "secret"
        message = refusal(home.doors(), server.url("upstream"), head(upstream))
        assert f"{server.url('upstream')}: cannot fetch the source" in message
        assert head(upstream) in message
        assert "guides/how-to/private-sources.md" in message

    def test_an_unknown_certificate_is_refused_with_what_to_set(
        self, tmp_path: Path, server: GitServer, upstream: GitRepository
    ) -> None:
        opened = doors(tmp_path / "store", network=impatient(), environment={"HOME": "/nowhere"})
        assert "http.sslCAInfo" in refusal(opened, server.url("upstream"), head(upstream))

    def test_the_users_proxy_is_used(self, home: Home, server: GitServer, upstream: GitRepository) -> None:
        home.set("http", "proxy = http://ann:secret@127.0.0.1:9")
        message = refusal(home.doors(), server.url("upstream"), head(upstream))
        assert "http.proxy" in message
        assert server.asked == []

    def test_a_broken_configuration_is_named(
        self, home: Home, server: GitServer, upstream: GitRepository
    ) -> None:
        home.settings.write_text("[http\n")
        assert ".gitconfig" in refusal(home.doors(), server.url("upstream"), head(upstream))


class TestSsh:
    def test_the_users_ssh_command_is_used_from_a_variable(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        opened = home.doors(GIT_SSH_COMMAND=sshd.command)
        assert lock(opened, sshd.url(upstream.folder), head(upstream)) == ["run.py"]

    def test_the_users_ssh_command_is_used_from_the_configuration(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        home.set("core", f"sshCommand = {sshd.command}")
        assert lock(home.doors(), sshd.url(upstream.folder), head(upstream)) == ["run.py"]

    def test_an_https_address_may_be_rewritten_to_ssh(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        home.set("core", f"sshCommand = {sshd.command}")
        home.set(f'url "{sshd.url(upstream.folder.parent)}/"', "insteadOf = https://git.example.org/")
        assert lock(home.doors(), "https://git.example.org/upstream", head(upstream)) == ["run.py"]

    def test_submodules_with_relative_addresses_come_from_the_same_server(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        upstream.git("clone", "--quiet", "--bare", ".", "../inner.git")
        upstream.git("submodule", "--quiet", "add", "../inner.git", "libs/inner")
        opened = home.doors(GIT_SSH_COMMAND=sshd.command)
        found = lock(opened, sshd.url(upstream.folder), upstream.commit(), submodules=True)
        assert "libs/inner/run.py" in found

    def test_a_key_that_the_server_does_not_know_is_an_error_in_its_words(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        opened = home.doors(GIT_SSH_COMMAND=sshd.stranger)
        message = refusal(opened, sshd.url(upstream.folder), head(upstream))
        assert "Permission denied" in message
        assert "ssh key" in message

    def test_a_host_that_is_not_known_is_not_trusted(
        self, home: Home, sshd: SshServer, upstream: GitRepository
    ) -> None:
        # Without a command of the user's, ssh is called so that it does not ask whether the host may be trusted.
        message = refusal(home.doors(), sshd.url(upstream.folder), head(upstream))
        assert "Host key verification failed" in message
        assert "connect to the host once" in message
