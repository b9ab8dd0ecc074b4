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
