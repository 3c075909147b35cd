"""The checks of scripts/test-operations."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/server.d"))
from server import BACKSCROLL, check, end, Server  # noqa: E402

PYTHON = sys.executable
PROMTOOL = ROOT / ".build/debian/usr/bin/promtool"
DOCS = ROOT / "docs"


def run(*command, text=None):
    """Runs a command, which must succeed, and returns its output."""
    done = subprocess.run(
        [str(word) for word in command], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )
    if done.returncode:
        raise AssertionError(f"{command[0]} exits with {done.returncode}: {done.stdout}")
    return done.stdout


# --- Metrics, alerts and the dashboard


def exposition_is_valid():
    with Server() as server:
        server.ask("POST", "/v1/rooms/lobby/messages", {"text": "hello"})
        run(PROMTOOL, "check", "metrics", text=server.ask("GET", "/metrics")[1].decode())


def dashboard():
    return json.loads((DOCS / "grafana.json").read_text())


def expressions_of_the_dashboard_are_valid():
    variables = {"$__rate_interval": "5m", "$instance": ".*"}
    rules = []
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in variables.items():
                expression = expression.replace(name, value)
            assert "$" not in expression, f"an unknown variable in {expression}"
            rules.append({"record": f"panel_{panel['id']}_{target['refId']}", "expr": expression})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        # JSON is YAML.
        json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)
        file.flush()
        assert f"{len(rules)} rules found" in run(PROMTOOL, "check", "rules", file.name)


def panels_are_complete():
    panels = dashboard()["panels"]
    for panel in panels:
        assert panel["description"] and panel["fieldConfig"]["defaults"]["unit"], panel["title"]
    for kind in ("id", "title"):
        assert len({panel[kind] for panel in panels}) == len(panels), f"two panels have the same {kind}"
    places = [tuple(sorted(panel["gridPos"].items())) for panel in panels]
    assert len(set(places)) == len(panels), "panels cover each other"


def every_alert_is_tested():
    names = re.findall(r"- alert: (\w+)", (DOCS / "alerts.yaml").read_text())
    tests = (ROOT / "Tests/Operations/alerts.test.yaml").read_text()
    for name in names:
        fires = re.search(rf"alertname: {name}\n\s+eval_time: \w+\n\s+exp_alerts:\n\s+- exp_labels", tests)
        assert fires, f"no test lets {name} fire"


# --- Workflows and forms, checked with the schemas that check-jsonschema brings along


def match_schema(schema, *patterns):
    files = [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]
    assert len(files) >= len(patterns), f"there is no {patterns}"
    run(PYTHON, "-m", "check_jsonschema", "--builtin-schema", schema, *files)


def workflows_run_scripts_that_exist():
    for file in (ROOT / ".github/workflows").glob("*.yml"):
        for script in re.findall(r"\bscripts/[\w-]+", file.read_text()):
            assert os.access(ROOT / script, os.X_OK), f"{file.name} runs {script}"


# --- Kubernetes

# The first version that has all that the manifests use, and the last one that the validator knows.
KUBERNETES = ["1.30.0", "1.37.0"]


def manifests_are_valid():
    files = sorted((DOCS / "kubernetes").glob("*.yaml"))
    assert files
    for version in KUBERNETES:
        run(PYTHON, "-m", "kubernetes_validate", "--strict", "--kubernetes-version", version, *files)


def a_mistake_in_a_manifest_is_found():
    text = (DOCS / "kubernetes/sqlite.yaml").read_text()
    for right, wrong in [("readOnlyRootFilesystem", "readOnlyRootFileSystem"), ("replicas: 1", "replicas: one")]:
        assert right in text
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text.replace(right, wrong))
            file.flush()
            command = [PYTHON, "-m", "kubernetes_validate", "--strict", "--kubernetes-version", KUBERNETES[0], file.name]
            assert subprocess.run(command, capture_output=True).returncode == 1, f"{wrong} is accepted"


def manifests_set_options_that_exist():
    """The server of each manifest knows its variables, and drains within the grace."""
    for file in (DOCS / "kubernetes").glob("*.yaml"):
        containers = [
            pod["containers"][0]
            for part in yaml.safe_load_all(file.read_text())
            if (pod := part["spec"].get("template", {}).get("spec"))
        ]
        assert len(containers) == 1
        # A value of the right kind for each variable that a secret has.
        variables = {entry["name"]: entry.get("value", "x" * 32) for entry in containers[0]["env"]}
        with tempfile.TemporaryDirectory() as directory:
            variables["BACKSCROLL_DATABASE"] = f"{directory}/chat.db"
            variables |= {"BACKSCROLL_HOST": "127.0.0.1", "BACKSCROLL_PORT": "0", "BACKSCROLL_METRICS_LISTEN": "127.0.0.1:0"}
            process = subprocess.Popen(
                [BACKSCROLL, "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
            )
            line = process.stdout.readline()
            process.terminate()
            log = process.communicate()[1]
            assert line.startswith("listening on") and process.returncode == 0, f"{file.name}: {log}"
            assert "no effect" not in log, f"{file.name}: {log}"


# --- The version, which is that of Sources/Server/Version.swift

# Places that name it, each with the pattern that finds it there.
VERSIONS = {
    "README.md": r"backscroll_(\S+?)-1~debian12",
    "CHANGELOG.md": r"^## (\d\S+)",
    "docs/operations.md": r"backscroll_(\S+?)-1~debian12",
    "Dockerfile": r"^ARG VERSION=(\S+)",
    "compose.yaml": r"image: backscroll:(\S+)",
    "docs/kubernetes/README.md": r"/backscroll:(\S+)",
    "docs/kubernetes/sqlite.yaml": r"image: backscroll:(\S+)",
    "docs/kubernetes/postgresql.yaml": r"image: backscroll:(\S+)",
    "docs/swift-client.md": r'backscroll", from: "([^"]+)"',
    "docs/javascript.md": r"backscroll-(\d[^/`]*?)(?:\.tgz|/)",
    "Sources/Page/client/package.json": r'"version": "([^"]+)"',
}


def every_place_names_the_version():
    version = run("scripts/release-notes", "--version").strip()
    assert run(BACKSCROLL, "--version").strip() == version, "the program has another version"
    for file, pattern in VERSIONS.items():
        found = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
        # The changelog has earlier versions, too.
        assert found and found[0] == version, f"{file} names {found}, not {version}"
    with Server() as server:
        assert server.ask("GET", "/openapi.json")[1]["info"]["version"] == version
        assert f'backscroll_build_info{{store="sqlite",version="{version}"}} 1' in server.ask("GET", "/metrics")[1].decode()


def notes_are_those_of_the_version():
    version = run("scripts/release-notes", "--version").strip()
    notes = run("scripts/release-notes", f"v{version}")
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert notes.strip() == changes.split(f"## {version}\n")[1].split("\n## ")[0].strip()
    refused = subprocess.run(["scripts/release-notes", "v9.9.9"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 1 and "v9.9.9" in refused.stderr, "another tag is accepted"


check("the metrics of a server have the form that Prometheus wants", exposition_is_valid)
check("Prometheus reads the alerts", run, PROMTOOL, "check", "rules", DOCS / "alerts.yaml")
check("the alerts fire when they should, and only then", run, PROMTOOL, "test", "rules", "Tests/Operations/alerts.test.yaml")
check("a test lets each alert fire", every_alert_is_tested)
check("Prometheus reads the expressions of the dashboard", expressions_of_the_dashboard_are_valid)
check("each panel has a title, a unit, an explanation and a place", panels_are_complete)
check("the workflows are valid", match_schema, "vendor.github-workflows", ".github/workflows/*.yml")
check("the action is valid", match_schema, "vendor.github-actions", ".github/actions/*/action.yml")
check("the workflows run scripts that exist", workflows_run_scripts_that_exist)
check("dependabot's settings are valid", match_schema, "vendor.dependabot", ".github/dependabot.yml")
check(
    "the issue forms are valid", match_schema, "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml",
)
check("the choice of issue forms is valid", match_schema, "vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml")
check("the compose files are valid", match_schema, "vendor.compose-spec", "compose.yaml", "docs/cluster/compose.yaml")
check("the manifests for Kubernetes are valid", manifests_are_valid)
check("a mistake in a manifest is found", a_mistake_in_a_manifest_is_found)
check("the servers of the manifests start with their settings", manifests_set_options_that_exist)
check("every place that names a version names the program's", every_place_names_the_version)
check("a release has the notes of its version, and no other tag", notes_are_those_of_the_version)

end()
