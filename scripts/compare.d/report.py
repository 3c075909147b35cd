"""Turns the raw results of scripts/compare into a table and a plot.

  report.py machine DIR ROOT SCALE SECONDS ROUNDS PEERS STORE   writes DIR/machine.json: the machine, the software and the run
  report.py cpu PID [BEFORE]                              prints the CPU seconds of a process and its children, less BEFORE
  report.py sum FILE...                                   prints the sum of reports of runs at the same time
  report.py half RATE                                     prints the rate that takes half of a core, more or less
  report.py line CASE PEER ROUND                          prints the report on standard input in a line
  report.py held RESULTS                                  fails if the last run could not hold its rate
  report.py report DIR                                    prints DIR's results, and writes them as Markdown and SVG
"""

import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import plot

OURS = "backscroll"

# Case, label, unit, whether more is better, and the figure's path in the report (or a function of the report).
FIGURES = [
    ("A", "1 room × {k}, 8 in flight", "deliveries per CPU second", True, "deliveries_per_server_cpu_second"),
    ("A", "", "delivery p50, ms", False, "delivery_ms.p50"),
    ("A", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("A32", "the same, 32 in flight", "deliveries per CPU second", True, "deliveries_per_server_cpu_second"),
    ("A32", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("B1", "50 messages/s × {k}, one loop", "delivery p50, ms", False, "delivery_ms.p50"),
    ("B1", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("B2", "the same, two loops", "delivery p50, ms", False, "delivery_ms.p50"),
    ("B2", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("C", "{k} rooms × 2, 32 in flight", "sends per CPU second", True, "acknowledged_per_server_cpu_second"),
    ("C", "", "sends per second", True, "acknowledged_per_second"),
    ("C", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("D", "{10k} connections, 10 active", "bytes per connection", False, "server_memory_per_connection"),
    ("DT", "", "bytes per TLS connection", False, "server_memory_per_connection"),
    ("D", "", "server CPU per message, µs", False, lambda r: cpu_per_message(r)),
    ("D0", "without the idle ones", "server CPU per message, µs", False, lambda r: cpu_per_message(r)),
    ("E", "sends alone, 64 in flight", "sends per second", True, "acknowledged_per_second"),
    ("E", "", "sends per CPU second", True, "acknowledged_per_server_cpu_second"),
    ("E", "", "answer p99, ms", False, "ack_ms.p99"),
    ("E", "", "PostgreSQL's CPU per message, µs", False, lambda r: postgres_cpu(r)),
    ("E", "", "sends per CPU second, with PostgreSQL's", True, lambda r: sends_per_cpu_second(r)),
    ("E8", "the same, 8 in flight", "sends per second", True, "acknowledged_per_second"),
    ("E8", "", "PostgreSQL's CPU per message, µs", False, lambda r: postgres_cpu(r)),
    ("E256", "the same, 256 in flight", "sends per second", True, "acknowledged_per_second"),
    ("E256", "", "PostgreSQL's CPU per message, µs", False, lambda r: postgres_cpu(r)),
    ("N1", "sends to {k} rooms, 64 in flight a node: one node", "sends per second", True, "acknowledged_per_second"),
    ("N1", "", "PostgreSQL's CPU per message, µs", False, lambda r: postgres_cpu(r)),
    ("N3", "three nodes", "sends per second", True, "acknowledged_per_second"),
    ("N3", "", "PostgreSQL's CPU per message, µs", False, lambda r: postgres_cpu(r)),
    ("NH1", "the same to 1 room: one node", "sends per second", True, "acknowledged_per_second"),
    ("NH3", "three nodes", "sends per second", True, "acknowledged_per_second"),
    ("V1", "50 messages/s, subscribers of the sender's node", "delivery p50, ms", False, "delivery_ms.p50"),
    ("V1", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("V2", "of another node", "delivery p50, ms", False, "delivery_ms.p50"),
    ("V2", "", "delivery p99, ms", False, "delivery_ms.p99"),
    ("FN", "pages of 30 of {m}: newest", "pages per second", True, "acknowledged_per_second"),
    ("FR", "random", "pages per second", True, "acknowledged_per_second"),
    ("FD", "the first", "pages per second", True, "acknowledged_per_second"),
    ("S1", "searches beside E: a word in a room", "searches per second", True, "acknowledged_per_second"),
    ("S1", "", "answer p99, ms", False, "ack_ms.p99"),
    ("S1E", "", "sends per second meanwhile", True, "acknowledged_per_second"),
    ("S2", "words in all of 100 rooms", "searches per second", True, "acknowledged_per_second"),
    ("S2", "", "answer p99, ms", False, "ack_ms.p99"),
    ("S2E", "", "sends per second meanwhile", True, "acknowledged_per_second"),
    ("G", "{10k} clients come back, 100 behind", "all have caught up, ms", False, "catch_up_ms.max"),
    ("G", "", "others' delivery p99 before, ms", False, "delivery_ms.p99"),
    ("G", "", "others' delivery p99 meanwhile, ms", False, "disturbed_delivery_ms.p99"),
    *[
        row
        for clients in (1500, 5000, 15000)
        for row in [
            (f"L{clients}", f"{clients:,} clients come back, 10 behind", "until one is live, p50, ms", False, "catch_up_ms.p50"),
            (f"L{clients}", "", "until one is live, p99, ms", False, "catch_up_ms.p99"),
            (f"L{clients}", "", "others' delivery p99 before, ms", False, "delivery_ms.p99"),
            (f"L{clients}", "", "others' delivery p99 meanwhile, ms", False, "disturbed_delivery_ms.p99"),
        ]
    ],
    ("K", "pages around a random place of {20m}, cold", "pages per second", True, "acknowledged_per_second"),
    ("K", "", "answer p50, ms", False, "ack_ms.p50"),
    ("K", "", "answer p99, ms", False, "ack_ms.p99"),
    ("H", "10 % of {k} read nothing", "others' delivery p99 before, ms", False, "delivery_ms.p99"),
    ("H", "", "others' delivery p99 meanwhile, ms", False, "disturbed_delivery_ms.p99"),
    ("H", "", "bytes per stalled reader", False, "disturbance_memory_per_client"),
    *[
        row
        for users in (6, 100)
        for row in [
            (f"R{users}", f"rooms of {users} users, at most half of a core", "delivery p50, ms", False, "delivery_ms.p50"),
            (f"R{users}", "", "delivery p95, ms", False, "delivery_ms.p95"),
            (f"R{users}", "", "delivery p99, ms", False, "delivery_ms.p99"),
            (f"R{users}", "", "messages per second", True, "acknowledged_per_second"),
            (f"R{users}", "", "server CPU, % of a core", False, lambda r: 100 * load_of(r)),
        ]
    ],
    ("I", "1 room × {k} by TLS, 8 in flight", "deliveries per CPU second", True, "deliveries_per_server_cpu_second"),
    ("I", "", "delivery p99, ms", False, "delivery_ms.p99"),
]

# Notes on each peer, for readers of its figures.
NOTES = {
    "nats": "NATS orders the messages of each publisher, not those of a room, and the tool does not require more of it. "
    "Publishers never use TLS.",
    "socketify": "socketify is uWebSockets for Python. Its event loop is not shared with Python's.",
}


def load_of(report):
    """The part of a core that the server has used."""
    return report["server_cpu_seconds"] / report["seconds"]


def half(report, rate):
    """The rate at which the server would take half of a core; "more" if it takes less at this one, "less" if it does not
    sustain this one."""
    if not sustains(report, rate):
        return "less"
    return "more" if load_of(report) < 0.5 else round(rate * 0.5 / load_of(report))


def sustains(report, rate):
    """True if a run held its rate and everything arrived. At its end, messages of 50 ms may be outstanding."""
    return report["ok"] and report["backlog"] <= 0.05 * rate and report["acknowledged_per_second"] > 0.95 * rate


def cpu_per_message(report):
    return 1e6 * report["server_cpu_seconds"] / report["acknowledged"]


# PostgreSQL's CPU time is that of the whole run, like the messages. The server's is that of the measurement, without the
# warm-up, like the acknowledged ones.
def postgres_cpu(report):
    return 1e6 * report["postgres_cpu_seconds"] / report["messages"]


def sends_per_cpu_second(report):
    """Sends per CPU second of the server and PostgreSQL together."""
    return 1e6 / (cpu_per_message(report) + postgres_cpu(report))


def sum_of(reports):
    """The reports of simultaneous runs as one report, with the figures that can be added."""
    added = ["messages", "acknowledged", "acknowledged_per_second", "server_cpu_seconds"]
    return {
        **{name: sum(report[name] for report in reports) for name in added},
        "ok": all(report["ok"] for report in reports),
        "failures": [failure for report in reports for failure in report["failures"]],
    }


def cpu(process):
    """CPU seconds of a process and its children, also of those that have ended."""
    def ticks(pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))

    _, own, ended = ticks(process)
    total = own + ended
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent, used, _ = ticks(path.name)
        except OSError:  # it has ended
            continue
        total += used if parent == process else 0
    return total / os.sysconf("SC_CLK_TCK")


def figure(report, where):
    """A figure of a report; None if it has none."""
    try:
        if callable(where):
            return where(report)
        for name in where.split("."):
            report = report[name]
        return report
    except (KeyError, TypeError, ZeroDivisionError):
        return None


def load(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def median(runs, case, peer, where):
    values = [figure(run["report"], where) for run in runs if (run["case"], run["peer"]) == (case, peer)]
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def ratio(ours, theirs, more_is_better):
    """The factor by which ours is better; None if there is none."""
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return None
    return ours / theirs if more_is_better else theirs / ours


def number(value):
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def times(value):
    return "–" if value is None else f"{value:.1f}×" if value >= 0.95 else f"{value:.2f}×"


def scaled(n, scale):
    return f"{max(4, round(n * scale)):,}"


def rows(runs, machine):
    """The rows of all figures: label, unit, ours, then the value and the ratio of each peer."""
    scale = machine["scale"]
    names = {"k": scaled(1000, scale), "10k": scaled(10_000, scale), "m": scaled(1_000_000, scale), "20m": scaled(20_000_000, scale)}
    said = set()
    for case, label, unit, more, where in FIGURES:
        values = {peer: median(runs, case, peer, where) for peer in [OURS, *machine["peers"]]}
        if all(value is None for value in values.values()):
            continue
        scenario = {"D0": "D0", "DT": "D"}.get(case, case)
        label = label.format(**names) if label and case not in said else ""
        said.add(case)
        yield scenario, label, unit, values, {p: ratio(values[OURS], values[p], more) for p in machine["peers"]}


def table(runs, machine):
    peers = machine["peers"]
    lines = ["| | Figure | Backscroll | " + " | ".join(f"{peer} | ratio" for peer in peers) + " |"]
    lines.append("|---|---|---:|" + "---:|---:|" * len(peers))
    for scenario, label, unit, values, ratios in rows(runs, machine):
        first = f"{scenario}: {label}" if label else ""
        theirs = " | ".join(f"{number(values[p])} | {times(ratios[p])}" for p in peers)
        lines.append(f"| {first} | {unit} | {number(values[OURS])} | {theirs} |")
    return lines


def curve_table(runs, series):
    lines = ["| messages/s | " + " | ".join(f"{name} p50 | p99" for name in series) + " |"]
    lines.append("|---:|" + "---:|---:|" * len(series))
    for rate in sorted({rate for points in series.values() for rate, _, _ in points}):
        cells = []
        for points in series.values():
            found = [(p50, p99) for r, p50, p99 in points if r == rate]
            cells += [number(v) for v in found[0]] if found else ["–", "–"]
        lines.append(f"| {rate:,} | " + " | ".join(cells) + " |")
    return lines


def curve_series(runs):
    """The points (rate, p50, p99) of each server and number of loops, for the rates that it held."""
    series = {}
    for key in dict.fromkeys((run["peer"], run["case"]) for run in runs):
        peer, case = key
        _, loops, rate = case.split("-")
        name = f"{peer}, {'one loop' if loops == '1' else 'two loops'}"
        if all(is_held(run) for run in runs if (run["peer"], run["case"]) == key):
            points = [median(runs, case, peer, f"delivery_ms.{p}") for p in ("p50", "p99")]
            series.setdefault(name, []).append((int(rate), *points))
    return series


def is_held(run):
    return sustains(run["report"], int(run["case"].split("-")[2]))


def faults(runs):
    for run in runs:
        report = run["report"]
        if not report["ok"]:
            said = [report.get("ended_early"), *report.get("faults", [])[:1], *report["failures"][:1]]
            said = "; ".join(text for text in said if text) or "its verdict"
            yield f"- {run['case']}, {run['peer']}, round {run['round']}: FAILED: {said}"


def command(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().splitlines()[0] if done.returncode == 0 else None
    except (OSError, IndexError):
        return None


def machine(root, scale, seconds, rounds, peers, store):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)", cpuinfo, re.M)
    package = lambda name: command("dpkg-query", "--show", "--showformat", "${Version}", name)
    pg = "require('pg/package.json').version"
    programs = {
        OURS: f"{command(root + '/.build/release/backscroll', '--version')} "
        f"({command('git', '-C', root, 'describe', '--always', '--dirty') or 'no commit'})",
        "nchan": f"{package('libnginx-mod-nchan')}, nginx {package('nginx')}",
        "nats": f"nats-server {package('nats-server')}",
        "socketify": command(
            f"{root}/.build/compare/python/bin/python", "-c",
            "from importlib.metadata import version; print(version('socketify'))"),
        "node-ws": f"ws {package('node-ws')}, node {command('node', '--version')}",
        "node-pg": f"pg {command('node', '-p', pg)}, PostgreSQL {package('postgresql')}",
    }
    if store == "postgres":
        programs[OURS] += f" on PostgreSQL {package('postgresql')}"
    return {
        "cpu": model[1].strip() if model else platform.machine(),
        "cores": len(re.findall(r"^processor\s*:", cpuinfo, re.M)),
        "kernel": platform.release(),
        "date": datetime.date.today().isoformat(),
        "programs": {name: programs[name] for name in [OURS, *peers]},
        "scale": scale, "seconds": seconds, "rounds": rounds, "peers": peers,
        "store": store,
    }


def about(machine):
    programs = "; ".join(f"{name}: {version}" for name, version in machine["programs"].items())
    scale = "" if machine["scale"] == 1 else f", at a scale of {machine['scale']:g}"
    return [
        (f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}; medians of "
         f"{machine['rounds']} round{'s' * (machine['rounds'] > 1)} of {machine['seconds']:g} s{scale}. {programs}."),
        ("A ratio above 1 says how many times better Backscroll is. Before they answer, Backscroll and node-pg have synced "
         "a message to the disk; the others keep it in memory, if at all."),
        *(["PostgreSQL runs on the processors of the tool, and is not a part of the server's CPU time."]
          if machine.get("store") == "postgres" else []),
        *(NOTES[peer] for peer in machine["peers"] if peer in NOTES),
    ]


def report(directory):
    machine = json.loads((directory / "machine.json").read_text())
    runs, curve = load(directory / "results.jsonl"), load(directory / "curve.jsonl")
    if runs:
        lines = table(runs, machine) + ["", *about(machine), *faults(runs)]
        write(directory / "table.md", lines)
        (directory / "ratios.svg").write_text(plot.ratios(list(rows(runs, machine)), machine["peers"]))
    if curve:
        series = curve_series(curve)
        write(directory / "curve.md", curve_table(curve, series) + ["", *about(machine)[:1]])
        (directory / "curve.svg").write_text(plot.curve(series))


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def line(case, peer, round, report):
    parts = [f"{unit} {number(value)}" for c, _, unit, _, where in FIGURES
             if (c == case or c == "B1" and case.startswith("CURVE")) and (value := figure(report, where)) is not None]
    verdict = "" if report["ok"] else "  FAILED"
    print(f"round {round}  {case:4} {peer:10}  " + "  ".join(parts) + verdict, flush=True)


def main():
    verb, *words = sys.argv[1:]
    if verb == "machine":
        directory, root, scale, seconds, rounds, peers, store = words
        value = machine(root, float(scale), float(seconds), int(rounds), peers.split(","), store)
        (pathlib.Path(directory) / "machine.json").write_text(json.dumps(value, indent=1) + "\n")
    elif verb == "line":
        line(*words, json.load(sys.stdin))
    elif verb == "cpu":
        print(round(cpu(int(words[0])) - float(words[1] if words[1:] else 0), 2))
    elif verb == "sum":
        print(json.dumps(sum_of([json.loads(pathlib.Path(path).read_text()) for path in words])))
    elif verb == "half":
        print(half(json.load(sys.stdin), int(words[0])))
    elif verb == "held":
        sys.exit(not is_held(load(pathlib.Path(words[0]))[-1]))
    else:
        report(pathlib.Path(words[0]))


main()
