#!/usr/bin/env python3
"""Writes a software bill of materials in SPDX 2.3 (JSON): the program, the Swift packages and the runtime linked into it, and
the packages of the system whose libraries it loads.

    sbom.py ROOT PRODUCT PROGRAM NAME SECONDS    to standard output

PRODUCT is the name under which SwiftPM built the program, SECONDS the time of creation, since 1970.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def linked_modules(root, product):
    """Returns the names of the modules whose object files the program was linked from."""
    objects = (root / f".build/release/{product}.product/Objects.LinkFileList").read_text().split("\n")
    return {match[1] for line in objects if (match := re.search(r"/([^/]+)\.build/", line))}


def swift_packages(root, product):
    """Returns the dependencies of which a module is linked: (name, version, address, license)."""
    modules = linked_modules(root, product)
    for pin in json.loads((root / "Package.resolved").read_text())["pins"]:
        checkout = root / ".build/checkouts" / re.sub(r"\.git$", "", pin["location"]).rsplit("/", 1)[1]
        own = {path.name for path in checkout.glob("Sources/*")} | {path.name for path in checkout.glob("*") if path.is_dir()}
        if modules & own:
            yield checkout.name, pin["state"]["version"], pin["location"], license_of(checkout)


def license_of(checkout):
    text = next((path.read_text() for path in checkout.glob("LICENSE*")), "")
    if "Apache License" in text:
        return "Apache-2.0"
    return "MIT" if "Permission is hereby granted, free of charge" in text else "NOASSERTION"


def system_packages(program):
    """Returns the packages of the libraries that the program loads: (name, version)."""
    names = set()
    for path in re.findall(r"=> (/\S+)", output("ldd", program)):
        # The package may list the library under /lib or /usr/lib, which are the same directory.
        names.add(output("dpkg-query", "--search", "*/" + path.rsplit("/", 1)[1]).split(":")[0])
    # The event loop's plugin is loaded by name.
    for name in sorted(names | {"libwebsockets-evlib-uv"}):
        yield name, output("dpkg-query", "--show", "--showformat", "${Version}", name)


def main():
    root, product, program, name = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
    seconds = int(sys.argv[5])
    version = output(program, "--version").strip()
    release = dict(
        line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    packages = []
    relations = []

    def add(kind, name, version, location, license, relation):
        identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        packages.append({
            "SPDXID": identity, "name": name, "versionInfo": version, "downloadLocation": location, "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": license, "copyrightText": "NOASSERTION",
            **({"externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": kind}]} if kind else {}),
        })
        relations.append({
            "spdxElementId": f"SPDXRef-{product}" if relation else "SPDXRef-DOCUMENT",
            "relationshipType": relation or "DESCRIBES", "relatedSpdxElement": identity})

    add(None, product, version, "NOASSERTION", "MIT", None)
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    add(None, "swift", swift, "https://www.swift.org", "Apache-2.0", "STATIC_LINK")
    for package, number, location, license in swift_packages(root, product):
        path = re.sub(r"^https://|\.git$", "", location)
        add(f"pkg:swift/{path}@{number}", package, number, location, license, "STATIC_LINK")
    distribution = release["ID"].strip('"')
    for package, number in system_packages(program):
        add(f"pkg:deb/{distribution}/{package}@{number}", package, number, "NOASSERTION", "NOASSERTION", "DYNAMIC_LINK")

    created = datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}",
        "creationInfo": {"created": created, "creators": ["Tool: backscroll-scripts-package"]},
        "packages": packages, "relationships": relations,
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
