"""Converter of the Debian state: what maintainer scripts would have made of all packages together.

A pure function of all packages' facts and indexes. It owns the paths that several packages share: dpkg's
database, users and groups, alternatives, the certificate bundle, the links of the merged /usr, and the
modes of special folders. What is deliberately not here, since nothing in an image needs it: host name,
hosts, resolv.conf and machine-id (the container engine's), debconf's answers, byte code, services' links.
"""

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.deb.facts import read_facts
from reprobridge.assemble.debian_state.alternatives import add_alternatives
from reprobridge.assemble.debian_state.certificates import add_certificates
from reprobridge.assemble.debian_state.dpkg import add_database
from reprobridge.assemble.debian_state.folders import add_folders, add_tmpfiles
from reprobridge.assemble.debian_state.graphviz import add_graphviz
from reprobridge.assemble.debian_state.java import add_java_certificates
from reprobridge.assemble.debian_state.linker import add_linker_cache
from reprobridge.assemble.debian_state.mime import add_mime
from reprobridge.assemble.debian_state.pixbuf import add_pixbuf_loaders
from reprobridge.assemble.debian_state.tree import StateTree
from reprobridge.assemble.debian_state.users import add_accounts, add_shells
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.digest import Json, canonical_json
from reprobridge.plan.model import DebianStateRecipe


def convert(recipe: DebianStateRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes:
    """Write the state. Its facts name the packages with unknown effects, and files without set-uid bits."""
    packages = {deb.package: read_facts(inputs.facts(deb)) for deb in recipe.debs}
    shipped = {entry.path: entry for deb in recipe.debs for entry in inputs.index(deb)}
    files = {path: data for facts in packages.values() for path, data in facts.files.items()}
    tree = StateTree(shipped, files)
    add_folders(tree, packages)
    accounts = add_accounts(tree, shadow="passwd" in packages)
    add_shells(tree)
    add_tmpfiles(tree, accounts)
    add_alternatives(tree, packages)
    certificates = add_certificates(tree)
    if "ca-certificates-java" in packages:
        add_java_certificates(tree, certificates)
    add_graphviz(tree, packages)
    add_mime(tree, packages)
    add_pixbuf_loaders(tree, packages)
    add_linker_cache(tree, packages, recipe.architecture)
    add_database(tree, packages, recipe.architecture)
    tree.write(writer)
    unknown: Json = {name: facts.unknown for name, facts in packages.items() if facts.unknown}
    dropped: Json = {name: facts.dropped for name, facts in packages.items() if facts.dropped}
    return canonical_json({"unknown": unknown, "dropped": dropped})
