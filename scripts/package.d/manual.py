#!/usr/bin/env python3
"""Writes manual pages from the help of a program: one for it, and one for each of its commands.

    manual.py PROGRAM DIRECTORY    writes DIRECTORY/backscroll.1, backscroll-serve.1, …
"""

import json
import pathlib
import subprocess
import sys


def escaped(text):
    """Returns text for roff (man(7)): no control characters at the start of a line, and hyphens that can be copied."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def paragraphs(text):
    """Returns a discussion as roff. Lines that begin with two spaces are an example, shown as they are."""
    parts = []
    for part in text.strip("\n").split("\n\n"):
        lines = part.split("\n")
        while lines and not lines[0].startswith("  "):
            example = next((i for i, line in enumerate(lines) if line.startswith("  ")), len(lines))
            parts.append(".PP\n" + escaped("\n".join(lines[:example])))
            lines = lines[example:]
        if lines:
            parts.append(".PP\n.EX\n" + escaped("\n".join(lines)) + "\n.EE")
    return "\n".join(parts)


def name(item):
    return ("\\-\\-" if item["kind"] == "long" else "\\-") + escaped(item["name"])


def argument(item):
    """Returns the name of an argument as it is typed."""
    value = f"\\fI{escaped(item.get('valueName', 'value'))}\\fR"
    if item["kind"] == "positional":
        return value
    names = ", ".join(f"\\fB{name(one)}\\fR" for one in item["names"])
    return names if item["kind"] == "flag" else f"{names} {value}"


def synopsis(command, path):
    words = [f"\\fB{escaped(' '.join(path))}\\fR"]
    if any(item["kind"] != "positional" for item in command["arguments"]):
        words.append("[\\fIoption\\fR ...]")
    words += [
        f"[{argument(item)}]" if item.get("isOptional") else argument(item)
        for item in command["arguments"]
        if item["kind"] == "positional"
    ]
    if command.get("subcommands"):
        words.append("\\fIcommand\\fR")
    return " ".join(words)


def page(command, path, version):
    title = "-".join(path)
    lines = [
        f'.TH {title.upper()} 1 "" "Backscroll {version}" "Backscroll"',
        ".SH NAME",
        f"{escaped(title)} \\- {escaped(command['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS",
        synopsis(command, path),
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", paragraphs(command["discussion"])]
    shown = [item for item in command["arguments"] if item.get("shouldDisplay", True)]
    if shown:
        lines.append(".SH OPTIONS")
    for item in shown:
        lines += [".TP", argument(item), escaped(item.get("abstract", ""))]
        if item.get("defaultValue") not in (None, ""):
            lines.append(f"Default: {escaped(item['defaultValue'])}.")
    commands = [item for item in command.get("subcommands", []) if item["commandName"] != "help"]
    if commands:
        lines.append(".SH COMMANDS")
    for item in commands:
        lines += [".TP", f"\\fB{escaped('-'.join([*path, item['commandName']]))}\\fR(1)", escaped(item["abstract"])]
    if title == "backscroll-serve":
        lines += [
            ".SH ENVIRONMENT",
            "Each option can be set as a variable: BACKSCROLL_PORT=80 is \\fB\\-\\-port\\fR 80. A flag takes precedence.",
            ".SH FILES",
            ".TP\n.I /etc/backscroll/backscroll.env\nVariables of the service.",
            ".TP\n.I /etc/credstore\nSecrets and keys of the service, under the names of their options.",
            ".TP\n.I /var/lib/backscroll\nThe database of the service.",
        ]
    if len(path) > 1:
        lines += [".SH SEE ALSO", f"\\fB{escaped('-'.join(path[:-1]))}\\fR(1)"]
    return "\n".join(lines) + "\n"


def write(command, path, version, directory):
    (directory / f"{'-'.join(path)}.1").write_text(page(command, path, version))
    for item in command.get("subcommands", []):
        if item["commandName"] != "help":
            write(item, [*path, item["commandName"]], version, directory)


def main():
    program, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    help_text = subprocess.run([program, "--experimental-dump-help"], capture_output=True, check=True).stdout
    version = subprocess.run([program, "--version"], capture_output=True, check=True, text=True).stdout.strip()
    command = json.loads(help_text)["command"]
    write(command, [command["commandName"]], version, directory)


if __name__ == "__main__":
    main()
