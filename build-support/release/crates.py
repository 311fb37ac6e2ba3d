"""The Rust crates whose code is in the published library, as `cargo metadata` lists them."""

import json
import pathlib
import re
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The platforms that have a library. A crate of any of them counts.
PLATFORMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
# Licences that may be in a product under Apache-2.0. Of a choice, one has to be here.
ALLOWED = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unlicense", "Zlib"}


def expression(crate):
    """The licence of a crate as an SPDX expression. Older crates write `/` for a choice."""
    return re.sub(r"\s*/\s*", " OR ", crate["license"] or "")


def is_allowed(licence):
    """Whether an expression of choices has a licence that is allowed."""
    return bool(set(licence.split(" OR ")) & ALLOWED)


def linked():
    """The crates by name and version, and what each needs: (crates, {id: [id]}). Without our own, and without what runs at compile time."""
    crates, needs = {}, {}
    for platform in PLATFORMS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", platform]
        found = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout)
        packages = {package["id"]: package for package in found["packages"]}
        nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
        waiting = [name for name, package in packages.items() if package["name"] == "dwell-jni"]
        while waiting:
            name = waiting.pop()
            if name in crates:
                continue
            crates[name] = packages[name]
            needs[name] = sorted(needed["pkg"] for needed in nodes[name]["deps"] if is_linked(needed, packages[needed["pkg"]]))
            waiting += needs[name]
    own = {name for name, crate in crates.items() if crate["source"] is None}
    theirs = sorted((crate for name, crate in crates.items() if name not in own), key=lambda crate: (crate["name"], crate["version"]))
    return theirs, {name: needed for name, needed in needs.items() if name not in own}


def is_linked(needed, package):
    """Whether a dependency becomes a part of the library: a normal one that is no macro."""
    kinds = {kind["kind"] for kind in needed["dep_kinds"]}
    return None in kinds and not any("proc-macro" in target["kind"] for target in package["targets"])


def hashes():
    """SHA-256 of the archive of each crate, by name and version, as Cargo.lock has it."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))
    return {(crate["name"], crate["version"]): crate["checksum"] for crate in lock["package"] if "checksum" in crate}
