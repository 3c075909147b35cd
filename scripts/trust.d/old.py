"""Databases of older versions, made of the SQL of the released migrations, which never changes."""

import json
import re
import sqlite3

from load import Register, text
import sequence

EPOCH = "OldEpochOldEpochOld1"
ROOMS = 3
MESSAGES = 25


def migrations():
    """The name and the statements of each migration of SQLite's tables, oldest first."""
    source = next((sequence.ROOT / "Sources/Store").rglob("Migrations.swift")).read_text()
    found = []
    for part in re.split(r'(?=\bMigration\(name: |\bname: "v)', source):
        name = re.match(r'(?:Migration\()?name: (?:"(v\d+)"|changes\b)', part)
        statements = re.findall(r'"""\n(.*?)"""', part, re.S)
        if name and statements:
            found.append((name[1] or "v3", "\n".join(statements)))
    values = {"activityFill": "activity_fill", "ActivityStatements.unknown": str(2**63 - 1)}
    found = [(name, re.sub(r"\\\((\w+(?:\.\w+)?)\)", lambda match: values[match[1]], sql)) for name, sql in found]
    names = [name for name, _ in found]
    assert names == [f"v{number}" for number in range(1, len(names) + 1)], names
    return found


def make(path, last, world, journal_mode):
    """Makes a database of an older version with messages, which the world takes as stored."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {journal_mode}")
    connection.execute(f"PRAGMA application_id = {0x426B5363}")
    connection.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for number, (name, sql) in enumerate(migrations()[:last]):
        connection.executescript(sql)
        connection.execute("INSERT INTO grdb_migrations VALUES (?)", (name,))
        if number == 0:
            connection.execute("INSERT INTO meta VALUES ('epoch', ?)", (EPOCH,))
            fill(connection, world)
        if name == "v3":
            connection.execute("INSERT INTO meta VALUES ('fingerprint_secret', ?)", ("00" * 32,))
    connection.close()
    world.complete("the old database", -1)


def fill(connection, world):
    for room in range(1, ROOMS + 1):
        connection.execute("INSERT INTO rooms VALUES (?, ?)", (room, f"old{room}"))
        for seq in range(1, MESSAGES + 1):
            name = f"elder-{room}x{seq}"
            message = {
                "room": f"old{room}", "seq": seq, "rev": seq, "sender": "elder", "client_message_id": name,
                "text": text(name, 0, 30 * seq), "created_at": "2026-01-01T00:00:00.000Z"}
            connection.execute(
                "INSERT INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES (?, ?, ?, ?, ?, ?)",
                ((room << 36) + seq, seq, 1767225600000, "elder", name,
                 json.dumps(message, separators=(",", ":")).encode()))
            world.messages[name] = Register(0)
            world.room_of[name] = f"old{room}"
            world.places[name] = f"old{room}", seq
