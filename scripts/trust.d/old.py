"""Databases of older versions, made of the SQL of the released migrations, which never changes."""

import json
import re
import sqlite3

from load import direct, Register, text
import sequence

EPOCH = "OldEpochOldEpochOld1"
MESSAGES = 25
TIME, MILLISECONDS = "2026-01-01T00:00:00.000Z", 1767225600000
FIRST = (1 << 36) + 1  # the key of the first message

# What users had stored besides rooms and messages, in the version that brought the table. An upgrade must keep the rows.
ROWS = [
    ("v3", "reactions", {"message": FIRST, "key": "ok", "user": "fan", "rev": MESSAGES + 1}),
    ("v4", "members", {"room": 1, "user": "fan", "owner": 0}),
    ("v4", "members", {"room": 2, "user": "fan", "owner": 1}),
    ("v4", "read_marks", {"user": "fan", "room": 1, "seq": 20}),
    ("v8", "bans", {"room": 1, "user": "pest", "reads": 1, "until": None, "reason": "spam", "set_by": "elder",
                    "created_at": MILLISECONDS}),
    ("v9", "erasures", {"user": "gone", "erased": 1, "messages": 7}),
    ("v13", "rooms", {"id": 101, "name": direct("elder", "fan"), "private": 1, "direct_first": "elder", "direct_second": "fan"}),
    ("v13", "members", {"room": 101, "user": "elder", "owner": 1}),
    ("v13", "members", {"room": 101, "user": "fan", "owner": 1, "hidden": 1}),
    ("v13", "blocks", {"user": "fan", "blocked": "pest", "created_at": MILLISECONDS}),
    ("v14", "mentions", {"user": "fan", "message": FIRST + 1, "sender": "elder", "created_at": MILLISECONDS}),
    ("v15", "reports", {"id": 1, "room": 1, "seq": 3, "sender": "elder", "body": b"{}", "created_at": MILLISECONDS}),
    ("v15", "reporters", {"room": 1, "seq": 3, "user": "fan", "reason": "spam", "note": "a note", "created_at": MILLISECONDS}),
    ("v16", "rooms", {"id": 102, "name": "settings", "private": 1, "title": "A room", "posting": 1, "slow_seconds": 5, "keep_days": 30,
                      "avatar": "https://example.com/room.png", "data": "{}", "created_at": MILLISECONDS}),
    ("v16", "members", {"room": 102, "user": "elder", "owner": 1}),
    ("v17", "pins", {"message": FIRST + 3, "rev": MESSAGES + 2, "user": "elder"}),
    ("v18", "profiles", {"user": "fan", "name": "A fan", "avatar": None, "data": None}),
    ("v19", "notify", {"user": "fan", "room": 1, "level": "mentions", "until": None, "room_mentions": 1}),
    ("v21", "webhooks", {"id": 1, "name": "hook", "version": 3, "url": "https://example.com/", "rooms": "*", "events": "message",
                         "secrets": "whsec_" + "A" * 43 + "=", "enabled": 0, "created_at": MILLISECONDS, "epoch": EPOCH}),
    ("v21", "webhook_rooms", {"webhook": 1, "room": 1, "rev": 20, "at": MILLISECONDS}),
]
# The members of messages in room 1 that belong to these rows: the `seq`, the new `rev` if it is a change, and the members.
SNAPSHOTS = {
    "reactions": (1, MESSAGES + 1, {"reactions": [{"key": "ok", "count": 1, "users": ["fan"]}]}),
    "mentions": (2, None, {"mentions": ["fan"]}),
    "pins": (4, MESSAGES + 2, {"pinned": {"by": "elder", "at": TIME}}),
}


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


def make(path, last, world, journal_mode, rooms=3, length=30):
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
            fill(connection, world, rooms, length)
        if name == "v3":
            connection.execute("INSERT INTO meta VALUES ('fingerprint_secret', ?)", ("00" * 32,))
        for version, table, row in ROWS:
            if version == name:
                add(connection, table, row, length)
    connection.close()
    world.complete("the old database", -1)


def snapshot(room, seq, length):
    """The body of a message, as it was sent."""
    name = f"elder-{room}x{seq}"
    return {"room": f"old{room}", "seq": seq, "rev": seq, "sender": "elder", "client_message_id": name,
            "text": text(name, 0, length * seq), "created_at": TIME}


def encode(body):
    return json.dumps(body, separators=(",", ":")).encode()


def fill(connection, world, rooms, length):
    for room in range(1, rooms + 1):
        connection.execute("INSERT INTO rooms VALUES (?, ?)", (room, f"old{room}"))
        for seq in range(1, MESSAGES + 1):
            message = snapshot(room, seq, length)
            name = message["client_message_id"]
            connection.execute(
                "INSERT INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES (?, ?, ?, ?, ?, ?)",
                ((room << 36) + seq, seq, MILLISECONDS, "elder", name, encode(message)))
            world.messages[name] = Register(0)
            world.room_of[name] = f"old{room}"
            world.places[name] = f"old{room}", seq


def add(connection, table, row, length):
    """Adds a row, and what the snapshot of its message says of it."""
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    if table in SNAPSHOTS:
        seq, rev, members = SNAPSHOTS[table]
        message = snapshot(1, seq, length)
        time = message.pop("created_at")
        message |= {"rev": rev or seq} | members | {"created_at": time}
        changed = (1 << 36) + rev if rev else None
        connection.execute("UPDATE messages SET body = ?, changed = ? WHERE id = ?", (encode(message), changed, (1 << 36) + seq))


def compare(path, last):
    """What an upgrade from a version has not kept of these rows."""
    names = [name for name, _ in migrations()[:last]]
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    wrong = []
    for version, table, row in ROWS:
        if version in names:
            same = " AND ".join(f"{column} IS ?" for column in row)
            if connection.execute(f"SELECT count(*) FROM {table} WHERE {same}", tuple(row.values())).fetchone() != (1,):
                wrong.append(f"the upgrade has lost a row of {table}: {row}")
    connection.close()
    return wrong
