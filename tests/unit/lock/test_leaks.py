"""What nobody means to publish is found, and what only looks like it is not.

The secrets are put together here, so that no other scanner finds one in this file.
"""

import random
import string

import pytest

from reprobridge.lock.leaks import is_secret_file, secrets_of

LETTERS = string.ascii_letters
UPPER = string.ascii_uppercase + string.digits
ALL = LETTERS + string.digits


def drawn(alphabet: str, length: int) -> str:
    """Characters as an issuer's dice give them, the same in every run."""
    dice = random.Random(f"{alphabet}{length}")
    return "".join(dice.choice(alphabet) for _ in range(length))


def header(what: str, dashes: str = "-----") -> str:
    return f"{dashes}BEGIN {what}{dashes}\nMIIEvQ"


FORMS = {
    "PEM": ("a private key", header("PRIVATE KEY")),
    "PEM, RSA": ("a private key", header("RSA PRIVATE KEY")),
    "PEM, encrypted": ("a private key", header("ENCRYPTED PRIVATE KEY")),
    "OpenSSH": ("a private key", header("OPENSSH PRIVATE KEY")),
    "PGP": ("a private key", header("PGP PRIVATE KEY BLOCK")),
    "SSH2": ("a private key", f"{'-' * 4} BEGIN SSH2 ENCRYPTED PRIVATE KEY {'-' * 4}"),
    "PuTTY": ("a private key", "PuTTY-User-Key-File-" + "3: ssh-ed25519"),
    "age": ("a private key", "AGE-SECRET-KEY-" + "1" + drawn(UPPER, 58)),
    "AWS": ("an AWS access key", "AK" + "IA" + drawn(UPPER, 16)),
    "AWS, for a time": ("an AWS access key", "AS" + "IA" + drawn(UPPER, 16)),
    "AWS, secret": ("an AWS secret key", "aws_secret_access_key = " + drawn(ALL, 40)),
    "GitHub": ("a GitHub token", "gh" + "p_" + drawn(ALL, 36)),
    "GitHub Actions": ("a GitHub token", "gh" + "s_" + drawn(ALL, 36)),
    "GitHub, fine-grained": ("a GitHub token", "github" + "_pat_" + drawn(ALL, 22) + "_" + drawn(ALL, 59)),
    "GitLab": ("a GitLab token", "gl" + "pat-" + drawn(ALL, 20)),
    "GitLab, deploy": ("a GitLab token", "gl" + "dt-" + drawn(ALL, 20)),
    "GitLab, runner": ("a GitLab token", "gl" + "rt-" + drawn(ALL, 20)),
    "Hugging Face": ("a Hugging Face token", "hf" + "_" + drawn(LETTERS, 34)),
    "Hugging Face, organisation": ("a Hugging Face token", "api" + "_org_" + drawn(LETTERS, 34)),
    "PyPI": ("a PyPI token", "pypi-" + "AgEIcHlwaS5vcmc" + drawn(ALL, 80)),
    "TestPyPI": ("a PyPI token", "pypi-" + "AgENdGVzdC5weXBpLm9yZw" + drawn(ALL, 80)),
    "npm": ("an npm token", "npm" + "_" + drawn(ALL, 36)),
    "npm, by its file": ("an npm token", "//h.example.org/:_auth" + "Token=abc"),
    "Slack, bot": ("a Slack token", "xox" + "b-" + drawn(string.digits, 12) + "-" + drawn(ALL, 24)),
    "Slack, refreshed": ("a Slack token", "xox" + "e.xoxp-1-" + drawn(ALL, 40)),
    "Slack, app": (
        "a Slack token",
        "xapp" + f"-1-{drawn(UPPER, 11)}-{drawn(string.digits, 13)}-{drawn(ALL, 64)}",
    ),
    "Slack, hook": (
        "a Slack token",
        "https://hooks.slack.com/" + f"services/T{drawn(UPPER, 8)}/B{drawn(UPPER, 8)}/{drawn(ALL, 24)}",
    ),
    "Google": ("a Google key", "AI" + "za" + drawn(ALL, 35)),
    "OpenAI": ("an API key", "sk" + "-" + drawn(ALL, 48)),
    "OpenAI, project": ("an API key", "sk" + "-proj-" + drawn(ALL, 48)),
    "OpenAI, service account": ("an API key", "sk" + "-svcacct-" + drawn(ALL, 48)),
    "Anthropic": ("an API key", "sk" + "-ant-api03-" + drawn(ALL, 93) + "AA"),
    "OpenRouter": ("an API key", "sk" + "-or-v1-" + drawn(string.hexdigits, 64)),
    "Azure storage": ("an Azure storage key", "AccountKey=" + drawn(ALL, 86) + "=="),
    "Weights & Biases": ("a Weights & Biases key", "WANDB_API_KEY=" + drawn("0123456789abcdef", 40)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "around", ["{}", 'key = "{}"\n', "export KEY={}\r\n"], ids=["bare", "quoted", "exported"]
)
def test_a_secret_is_found_and_not_shown(form: str, around: str) -> None:
    what, secret = FORMS[form]
    if form == "PuTTY":  # stands at the beginning of a line
        around = "{}\n"
    text = "first line\n" + around.format(secret)
    assert list(secrets_of("a/x.txt", text.encode())) == [f"a/x.txt, line 2: {what}"]


HARMLESS = {
    "Amazon's example": "AK" + "IAIOSFODNN7EXAMPLE",
    "an AWS key that is too long": "AK" + "IA" + drawn(UPPER, 17),
    "a key of OpenAI that is too short": "sk" + "-" + drawn(ALL, 47),
    "a key of OpenAI that is too long": "sk" + "-" + drawn(ALL, 49),
    "a key of OpenAI that goes on": "sk" + "-" + drawn(ALL, 48) + "-more",
    "an end of a longer name": "disk" + "-" + drawn(ALL, 48),
    "a class of style sheets": "div.sk" + "-estimator-label-container-of-a-long-html-representation-x",
    "a digest behind sk-": "sk" + "-" + drawn("0123456789abcdef", 48),
    "a number behind sk-": "sk" + "-" + drawn(string.digits, 48),
    "a language": "sk" + "-SK",
    "a Hugging Face function": "hf" + "_hub_download(repo_id=model, filename=name)",
    "a Google key that is cut": "AI" + "za" + drawn(ALL, 20),
    "a token of npm from the environment": "//h.example.org/:_auth" + "Token=${NPM_TOKEN}",
    "a public key": header("PUBLIC KEY"),
    "a certificate": header("CERTIFICATE"),
    "talk of PuTTY": "files that begin with PuTTY-User-Key-File" + "-3 are keys",
    "a variable of Weights & Biases": "os.environ['WANDB_API_KEY'] = read_key()",
    "an example of GitHub": "gh" + "p_xxxx",
    "a word with glpat": "gl" + "pat-short",
    "a hook without its secret": "https://hooks.slack.com/services/YOUR/WEBHOOK/URL",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_only_looks_like_a_secret_is_none(text: str) -> None:
    assert list(secrets_of("a/x.txt", f'first = "{text}"\n{text}\n'.encode())) == []


@pytest.mark.parametrize(
    "path", ["id_rsa", "a/.netrc", ".env", ".env.local", "home/.aws/credentials", ".kaggle/kaggle.json"]
)
def test_files_of_secrets_are_known_by_their_names(path: str) -> None:
    assert list(secrets_of(path, b"")) == [f"{path}: a file of passwords or keys by its name"]


@pytest.mark.parametrize("path", ["id_rsa.pub", ".env.example", "environment.yml", "credentials", "x.pem"])
def test_other_files_are_not(path: str) -> None:
    assert not is_secret_file(path)
