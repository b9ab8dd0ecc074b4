"""Which settings reach git where."""

from reprobridge.lock.git_environment import closed_environment, open_arguments, open_environment

USER = {
    "HOME": "/h",
    "HTTPS_PROXY": "http://p",
    "GIT_SSL_CAINFO": "/ca",
    "GIT_SSH_COMMAND": "my ssh",
    "GIT_CONFIG_GLOBAL": "/h/other",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "http.proxy",
    "GIT_CONFIG_VALUE_0": "http://p",
    "GIT_EXEC_PATH": "/opt/git",
    "GIT_WORK_TREE": "/x",
    "GIT_OBJECT_DIRECTORY": "/x",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/x",
    "GIT_ALLOW_PROTOCOL": "ext",
    "GIT_TRACE_CURL": "1",
}


def test_what_reaches_a_remote_reaches_a_fetch() -> None:
    found = open_environment(USER)
    assert {name for name in USER if found.get(name) == USER[name]} == {
        *("HOME", "HTTPS_PROXY", "GIT_SSL_CAINFO", "GIT_SSH_COMMAND", "GIT_EXEC_PATH"),
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"),
    }
    assert not {"GIT_WORK_TREE", "GIT_ALLOW_PROTOCOL", "GIT_TRACE_CURL"} & found.keys()


def test_nothing_of_the_users_git_reaches_what_reads() -> None:
    found = closed_environment(USER)
    gits = {name: value for name, value in found.items() if name.startswith("GIT_") and name in USER}
    assert gits == {"GIT_EXEC_PATH": "/opt/git", "GIT_CONFIG_GLOBAL": "/dev/null"}
    assert found["GIT_CONFIG_NOSYSTEM"] == "1"


def test_nobody_is_asked() -> None:
    for found in (
        open_environment({"SSH_ASKPASS": "/window"}),
        closed_environment({"SSH_ASKPASS": "/window"}),
    ):
        assert (found["GIT_TERMINAL_PROMPT"], found["GIT_ASKPASS"], found["SSH_ASKPASS"]) == ("0", "", "")
    assert "credential.interactive=false" in open_arguments({}, "https://h/x")


def test_a_program_that_the_user_names_for_passwords_may_answer() -> None:
    user = {"GIT_ASKPASS": "/bin/answer"}
    assert open_environment(user)["GIT_ASKPASS"] == "/bin/answer"
    assert "credential.interactive=false" not in open_arguments(user, "https://h/x")


def test_messages_are_in_the_language_that_is_looked_for() -> None:
    found = open_environment({"LANGUAGE": "de", "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"})
    assert (found["LC_ALL"], found["LANGUAGE"]) == ("C.UTF-8", "")
