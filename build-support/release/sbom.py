"""The parts of a jar as CycloneDX JSON: the crates in its native library, and Spark and Scala, which the cluster provides."""

import json
import uuid

import crates


def crate_component(crate, hashes):
    component = {
        "type": "library", "bom-ref": reference(crate), "name": crate["name"], "version": crate["version"], "scope": "required",
        "licenses": [{"expression": crates.expression(crate)}], "purl": reference(crate)}
    checksum = hashes.get((crate["name"], crate["version"]))
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return component


def reference(crate):
    return "pkg:cargo/%s@%s" % (crate["name"], crate["version"])


def maven(group, name, version):
    return "pkg:maven/%s/%s@%s" % (group, name, version)


def provided_component(group, name, version):
    """What a user's class path has already: it is no part of the jar."""
    purl = maven(group, name, version)
    return {"type": "library", "bom-ref": purl, "group": group, "name": name, "version": version, "scope": "excluded",
            "licenses": [{"expression": "Apache-2.0"}], "purl": purl}


def bom(group, artifact, version, provided):
    """The document, the same for the same inputs. `provided`: rows of group, name, version."""
    theirs, needs = crates.linked()
    hashes = crates.hashes()
    names = {crate["id"]: reference(crate) for crate in theirs}
    own = maven(group, artifact, version)
    roots = sorted(names.values()) + [maven(*row) for row in provided]
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {"type": "library", "bom-ref": own, "group": group, "name": artifact, "version": version,
                                   "licenses": [{"expression": "Apache-2.0"}], "purl": own}},
        "components": [crate_component(crate, hashes) for crate in theirs] + [provided_component(*row) for row in provided],
        "dependencies": [{"ref": own, "dependsOn": roots}] +
                        [{"ref": names[name], "dependsOn": [names[other] for other in needed]} for name, needed in sorted(needs.items())]}
    document["serialNumber"] = "urn:uuid:%s" % uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return json.dumps(document, indent=2) + "\n"
