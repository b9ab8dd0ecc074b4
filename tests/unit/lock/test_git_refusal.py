"""What git says when it cannot fetch, in our words."""

import pytest

from reprobridge.lock.git_refusal import cannot_fetch, obstacle, reason

# As git 2.39 with curl (GnuTLS) and OpenSSH 9.2 say it.
NO_LOGIN = "fatal: could not read Username for 'https://h': terminal prompts disabled"
WRONG_PASSWORD = "remote: Access denied\nfatal: Authentication failed for 'https://ann:secret@h/x/'"
NO_KEY = (
    "Warning: Permanently added 'h' (ED25519) to the list of known hosts.\r\n"
    "git@h: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)
UNKNOWN_HOST_KEY = "Host key verification failed.\r\nfatal: Could not read from remote repository.\n"
CERTIFICATE = (
    "fatal: unable to access 'https://h/': server certificate verification failed. CAfile: none CRLfile: none"
)
PROXY = "fatal: unable to access 'https://h/': Received HTTP code 407 from proxy after CONNECT"
NAME = "fatal: unable to access 'https://h/': Could not resolve host: h"
DIED = "error: RPC failed; curl 56 GnuTLS recv error (-110): The TLS connection was non-properly terminated."
REFUSED = "fatal: unable to access 'https://h/': Failed to connect to h port 443: Connection refused"
OWNER = "fatal: detected dubious ownership in repository at '/srv/x'"


@pytest.mark.parametrize(
    ("said", "hint", "passing"),
    [
        (NO_LOGIN, "credential helper", False),
        (WRONG_PASSWORD, "credential helper", False),
        (NO_KEY, "ssh key", False),
        ("remote: Repository not found.\nfatal: repository 'https://h/x/' not found", "may read", False),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 403", "may read", False),
        (UNKNOWN_HOST_KEY, "compare its key", False),
        (CERTIFICATE, "http.sslCAInfo", False),
        (PROXY, "http.proxy", False),
        (NAME, "try again", True),
        (DIED, "try again", True),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 503", "try again", True),
        (REFUSED, "check address", False),
        (OWNER, "safe.directory", False),
    ],
)
def test_each_kind_of_obstacle_has_its_hint(said: str, hint: str, passing: bool) -> None:
    kind = obstacle(said.encode())
    assert kind is not None
    assert kind.passing == passing
    message = str(cannot_fetch("https://h/x", "0" * 40, said.encode(), 128))
    assert hint in message
    assert "0" * 40 in message


@pytest.mark.parametrize(
    "said",
    [
        "fatal: remote error: upload-pack: not our ref 0123",
        # Over ssh and from a folder, the server's end is seen as well.
        "fatal: git upload-pack: not our ref 0123\nfatal: the remote end hung up unexpectedly",
        "error: Server does not allow request for unadvertised object 0123",
        "fatal: dumb http transport does not support shallow capabilities",
        "fatal: '/x' does not appear to be a git repository",
    ],
)
def test_a_remote_that_answers_is_no_obstacle(said: str) -> None:
    assert obstacle(said.encode()) is None


@pytest.mark.parametrize(
    "said",
    [
        "fatal: '/srv/TLS-nope' does not appear to be a git repository",
        "fatal: '/srv/it's a certificate' does not appear to be a git repository",
        "fatal: protocol error at file:///srv/SSL/timed%20out",
    ],
)
def test_words_of_an_address_are_no_reason(said: str) -> None:
    assert obstacle(said.encode()) is None


def test_words_beside_an_apostrophe_are_a_reason() -> None:
    kind = obstacle(b"fatal: unable to access 'https://h/TLS/': Couldn't connect to server's port")
    assert kind is not None
    assert "check address" in kind.hint


def test_the_reason_is_one_line_without_what_gives_none() -> None:
    assert reason(NO_KEY.encode()) == "git@h: Permission denied (publickey)."
    assert reason(b"hint: only this\n") == "hint: only this"
    assert "\n" not in reason(WRONG_PASSWORD.encode())


def test_no_password_is_shown() -> None:
    message = str(cannot_fetch("https://bob:secret@h/x", "0" * 40, WRONG_PASSWORD.encode(), 128))
    assert "secret" not in message
    assert "https://***@h/x" in message
    assert "Access denied; fatal: Authentication failed" in message


def test_a_server_cannot_speak_to_the_terminal_nor_at_length() -> None:
    shown = reason(b"remote: \x1b[2J\x07" + b"x" * 1000)
    assert shown.isprintable()
    assert len(shown) == 300


def test_silence_is_an_exit_status() -> None:
    assert "exit status 128" in str(cannot_fetch("https://h/x", "0" * 40, b"", 128))
