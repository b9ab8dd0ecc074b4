"""Small programs that checks run with the image's own interpreter; Python 3.6 and later, standard library only."""

MARKERS = """\
import json, os, platform, sys
v = sys.implementation.version
print(json.dumps({
    "implementation_name": sys.implementation.name,
    "implementation_version": "{}.{}.{}".format(*v[:3]),
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "platform_python_implementation": platform.python_implementation(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
}))
"""
"""Prints the target's environment markers (PEP 508) as JSON."""

IMPORTS = """\
import json, os, subprocess, sys
CHILD = '''
import importlib, os, sys
out = os.fdopen(os.dup(1), "w", 1)
os.dup2(2, 1)
for name in sys.argv[1:]:
    print("+" + name, file=out)
    try:
        importlib.import_module(name)
    except BaseException as error:
        text = " ".join("{}: {}".format(type(error).__name__, error).split())
        print("!" + text[:300], file=out)
    else:
        print("=", file=out)
out.flush()
os._exit(0)
'''
def tried(names):
    failures, left = {}, list(names)
    while left:
        child = subprocess.Popen([sys.executable, "-I", "-c", CHILD] + left, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines = child.communicate()[0].decode("utf-8", "replace").splitlines()
        begun = None
        for line in lines:
            if line.startswith("+"):
                begun = line[1:]
                left.remove(begun)
            elif line.startswith("!"):
                failures[begun], begun = line[1:], None
            else:
                begun = None
        if begun is not None:
            failures[begun] = "importing it ends the interpreter (status {})".format(child.returncode)
        elif left:
            failures.update((name, "not reached (status {})".format(child.returncode)) for name in left)
            break
    return failures
failures = tried(sys.argv[1:])
for name in list(failures):
    alone = tried([name])
    if not alone:
        del failures[name]
print(json.dumps(failures))
"""
"""Imports the named modules and prints as JSON which of them fail and why. All in one process, since imports
share much; after one that ends the interpreter the others go on in a new one, and each failure is tried alone."""

STARTS = """\
import importlib.util, json, os, sys
from importlib.machinery import PathFinder
out = os.fdopen(os.dup(1), "w", 1)
os.dup2(2, 1)
def which(name):
    if "/" in name:
        return name
    for folder in os.environ.get("PATH", "").split(":"):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
def program(name, starter):
    path = which(name)
    if path is None or not os.path.exists(path):
        return "none"
    if os.path.isdir(path):
        return "a folder"
    # Tasks run in a copy of the code that is their own.
    mode = os.stat(path).st_mode
    if not (os.access(path, os.X_OK) if os.path.isabs(path) else mode & 0o100):
        return "a file that is not executable"
    with open(path, "rb") as stream:
        head = stream.read(256)
    if head[:2] != b"#!":
        return None if starter or b"\\0" in head else "a text without a #! line"
    line = head[2:].split(b"\\n")[0].replace(b"\\t", b" ").strip(b" ")
    words = line.decode("utf-8", "replace").split(" ")
    by_env = len(words) == 2 and os.path.basename(words[0]) == "env" and not set("-=") & set(words[1])
    lacking = [word for word in words[:1] + words[1:] * by_env if not os.path.exists(which(word) or "")]
    return "a script for {!r}, which is not there".format(lacking[0]) if lacking else None
def script(name, reader):
    if os.path.isdir(name):
        package = "python" in reader and any(file.startswith("__main__.") for file in os.listdir(name))
        return None if package else "a folder"
    return None if os.path.exists(name) else "none"
def shell_script(name, reader):
    return None if "/" not in name and which(name) else script(name, reader)
def find(name):
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    for part in inner:
        if spec is None:
            return None
        top += "." + part
        spec = PathFinder.find_spec(top, spec.submodule_search_locations or [])
    return spec
def module(name, reader):
    if os.path.dirname(which(reader) or "") != os.path.dirname(sys.argv[1]):
        return None
    spec, wanted, found = find(name), name, "none"
    if spec is not None and spec.submodule_search_locations is not None:
        wanted, found = name + ".__main__", "a package without __main__"
        spec = find(wanted)
    if spec is None and "." in wanted:
        # Only a package itself knows where else its modules are, so it is imported before anything is denied.
        try:
            spec = importlib.util.find_spec(wanted)
        except ModuleNotFoundError as error:
            if not (wanted + ".").startswith(str(error.name) + "."):
                raise
    return None if spec else found
os.chdir(sys.argv[2])
sys.path += os.environ.get("PYTHONPATH", "").split(":")
looks = {"program": program, "script": script, "shell script": shell_script, "module": module}
for kind, name, reader in json.loads(sys.argv[3]):
    try:
        found = looks[kind](name, reader)
    except BaseException:
        found = None
    print(json.dumps(found), file=out)
out.flush()
os._exit(0)
"""
"""Says of each thing that a command needs what was found instead, as JSON, or null: it is there, or nobody can say.

Its words are the tasks' interpreter, the folder of the code, and the needs (`spec/command.py`) as JSON; it runs with
the variables of a task, of which PYTHONPATH counts from the code's folder. Programs are looked for as the launcher
and the kernel do.
"""
