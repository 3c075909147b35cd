"""Judges a database after a power cut or an error: whether it has what was acknowledged, once, and nothing else."""

import collections
import contextlib
import json
import subprocess
import time

from load import ABSENT, Client, DELETED, ERASED, Server, split, START, text

LIMIT = 60  # seconds for a command


def run(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=LIMIT)


class Contents:
    """What `backscroll export` finds in a database."""

    def __init__(self, lines):
        self.messages = collections.defaultdict(dict)  # room -> seq -> line
        self.titles, self.roles, self.marks, self.epoch = {}, {}, {}, None
        for line in lines:
            match line["type"]:
                case "export":
                    self.epoch = line.get("epoch")  # a backup has none
                case "room":
                    self.titles[line["room"]] = line.get("title", ABSENT)
                case "member":
                    self.roles[line["room"], line["user"]] = line["role"]
                case "message":
                    self.messages[line["room"]][line["seq"]] = line
                case "read":
                    self.marks[line["room"], line["user"]] = line["seq"]


def examine(program, database):
    """The contents of a database, which must be sound. Raises AssertionError with what is wrong."""
    result = run(program, "check", database)
    assert result.returncode == 0, f"check: {(result.stdout + result.stderr).strip()[:600]}"
    result = run(program, "export", "--database", database)
    assert result.returncode == 0, f"export: {result.stderr.strip()[:300]}"
    return Contents(json.loads(line) for line in result.stdout.splitlines())


def compare(world, contents, position, epoch=None):
    """What is wrong with the contents, if power was cut at a position of the sequence."""
    wrong = []
    assert epoch is None or contents.epoch == epoch, f"the epoch is {contents.epoch}, not {epoch}"
    found = {}
    for room, messages in contents.messages.items():
        if sorted(messages) != list(range(1, len(messages) + 1)):
            wrong.append(f"{room} has gaps: {sorted(messages)[-20:]}")
        ids = collections.Counter(
            (line["sender"], line["client_message_id"]) for line in messages.values() if "client_message_id" in line)
        wrong += [f"{room} has {count} messages of {key}" for key, count in ids.items() if count > 1]
        for seq, line in messages.items():
            if line.get("deleted"):
                continue
            try:
                name, version = split(line["text"])
            except ValueError as error:
                wrong.append(f"{room}/{seq}: {error}")
                continue
            if name not in world.messages or world.room_of[name] != room or not name.startswith(line["sender"] + "-"):
                wrong.append(f"{room}/{seq} is invented: {name}")
            elif name in found:
                wrong.append(f"{name} is there twice")
            elif name in world.places and world.places[name] != (room, seq):
                wrong.append(f"{name} is at {room}/{seq}, not {world.places[name]}")
            found[name] = version
    for name, register in world.messages.items():
        value = found.get(name, ABSENT)
        place = world.places.get(name)
        room, may_remove = world.room_of[name], world.may_remove(name, position)
        is_tombstone = place and contents.messages.get(place[0], {}).get(place[1], {}).get("deleted")
        is_room_gone = room in world.rooms and room not in contents.titles
        if value == ABSENT and (is_tombstone or is_room_gone and may_remove):
            value = DELETED
        allowed = [*register.allowed(position), *([DELETED] if may_remove else [])]
        if value not in allowed:
            wrong.append(f"message {name} is {value}, not one of {allowed[:4]}")
    for (name, key, user), register in world.reactions.items():
        room, seq = world.places[name]
        line = contents.messages.get(room, {}).get(seq, {"deleted": True})
        if not line.get("deleted"):
            users = [each for reaction in line.get("reactions", ()) if reaction["key"] == key
                     for each in reaction["users"]]
            if (user in users) not in register.allowed(position):
                wrong.append(f"the reaction {key} of {user} to {name} is {user in users}")
    for table, values in ((world.titles, contents.titles), (world.roles, contents.roles)):
        for key, register in table.items():
            if values.get(key, ABSENT) not in register.allowed(position):
                wrong.append(f"{key} is {values.get(key, ABSENT)}, not one of {register.allowed(position)[:4]}")
    for (room, user), register in world.marks.items():
        # A mark never moves back.
        read = [seq for seq, call in register.changes if call.succeeded and call.position is not None
                and call.position < position]
        if contents.marks.get((room, user), 0) < max(read, default=0):
            wrong.append(f"{user} has read {room} up to {contents.marks.get((room, user), 0)}, not {max(read)}")
    for room, register in world.rooms.items():
        if register.allowed(position) == [DELETED] and room in contents.titles:
            wrong.append(f"the deleted room {room} is there")
    return wrong


def revive(program, database, world, position, contents, log):
    """Opens a database with a server, reads all of it, repeats acknowledged sends, and sends on. Returns what is wrong."""
    wrong = []
    server = Server(program, database, log)
    if not server.port:
        with open(log, errors="replace") as lines:
            return [f"the server does not start: {lines.read().strip()[-300:]}"]
    try:
        admin = Client("admin", [], admin=True)
        admin.connect(server)
        revisions = collections.Counter()
        for call in world.calls:
            answer = call.answer or {}
            if call.succeeded and call.position is not None and call.position < position and "rev" in answer:
                revisions[answer["room"]] = max(revisions[answer["room"]], answer["rev"])
        for room in contents.titles:
            messages = contents.messages.get(room, {})
            state = admin.ask("GET", f"/v1/rooms/{room}").answer or {}
            if state.get("head") != len(messages) or state.get("rev", -1) < revisions[room]:
                wrong.append(f"{room}: {state}, with {len(messages)} messages and an acknowledged rev {revisions[room]}")
            read, rev = 0, 0
            while read < len(messages):
                page = admin.ask("GET", f"/v1/rooms/{room}/messages?after={read}&limit=200").answer
                for message in (page or {}).get("messages", ()):
                    read += 1
                    # An erasure or the expiry goes on meanwhile.
                    is_gone = message.get("deleted") and messages[read].get("text", "").split(" ")[0] in world.removals
                    if message["seq"] != read or (message.get("text") != messages[read].get("text") and not is_gone):
                        wrong.append(f"{room}/{read}: a page and the export differ")
                if not page or not page["messages"]:
                    wrong.append(f"{room}: a page ends at {read} of {len(messages)}: {page}")
                    break
            while rev < state.get("rev", 0):
                changes = admin.ask("GET", f"/v1/rooms/{room}/changes?since={rev}&limit=1000").answer
                revs = [message["rev"] for message in (changes or {}).get("messages", ())]
                if not revs or sorted(set(revs)) != revs or revs[0] <= rev:
                    # The last revisions may be those of messages that changed again, or of expiry: then nothing is left.
                    if revs or not changes or changes.get("has_more"):
                        wrong.append(f"{room}: changes after {rev} are {revs[:5]}")
                    break
                rev = revs[-1]
        for (room, user), register in world.bans.items():
            if any(call.answer for _, call in register.changes) and room in contents.titles:
                banned = admin.ask("GET", f"/v1/rooms/{room}/bans/{user}").status == 200
                if banned not in register.allowed(position):
                    wrong.append(f"{user} is{'' if banned else ' not'} banned from {room}")
        repeated = 0
        for name, register in world.messages.items():
            if repeated == 5 or name in world.removals or not register.changes:
                continue
            call = register.changes[0][1]
            if call.succeeded and call.position is not None and call.position < position:
                repeated += 1
                user, (room, seq) = name.rsplit("-", 1)[0], world.places[name]
                client = Client(user, [])
                client.connect(server)
                first = call.answer["text"]
                again = client.ask("POST", f"/v1/rooms/{room}/messages", {"text": first, "client_message_id": name})
                if again.status != 200 or again.answer["seq"] != seq:
                    wrong.append(f"{name}, sent again, is answered {again.status} {again.answer}")
                client.close()
        head = len(contents.messages.get("lobby", ()))
        new = admin.ask("POST", "/v1/rooms/lobby/messages", {"text": text("admin-1", 0, 5)})
        if new.status != 201 or new.answer["seq"] != head + 1:
            wrong.append(f"a new send is answered {new.status} {new.answer}")
        for user, register in world.erasures.items():
            if register.allowed(position) == [ERASED]:
                wrong += await_erasure(admin, user, world)
        admin.close()
    finally:
        server.end()
    result = run(program, "check", database)
    if result.returncode:
        wrong.append(f"check after a server's work: {(result.stdout + result.stderr).strip()[:400]}")
    return wrong


def await_erasure(admin, user, world):
    """What is wrong with the erasure of a user, which was acknowledged, so the server must complete it."""
    deadline, state = time.monotonic() + START, None
    while state != "erased":
        call = admin.ask("GET", f"/v1/users/{user}")
        state = (call.answer or {}).get("state")
        if state not in ("erasing", "erased") or time.monotonic() > deadline:
            return [f"the erasure of {user} is lost: {call.status} {call.answer}"]
        time.sleep(0.02)
    wrong = []
    for name, (room, seq) in list(world.places.items()):
        if name.rsplit("-", 1)[0] == user:
            message = admin.ask("GET", f"/v1/rooms/{room}/messages/{seq}").answer or {}
            if not message.get("deleted") or message.get("sender") != "~deleted":
                wrong.append(f"{room}/{seq} of the erased user {user} is {str(message)[:200]}")
    return wrong


def judge(program, directory, world, position, epoch, log, serve):
    """What is wrong with the database `log.db` of a directory, a line each."""
    database = str(directory / "log.db")
    try:
        if not world.has_promised(position):
            # Nothing was promised yet, but that a server starts. It makes the database, with a new epoch.
            epoch, server = None, Server(program, database, log)
            server.end()
            if not server.port:
                with contextlib.suppress(OSError), open(log, errors="replace") as lines:
                    return [f"the server does not start: {lines.read().strip()[-300:]}"]
        contents = examine(program, database)
        wrong = compare(world, contents, position, epoch)
        if serve and not wrong:
            wrong = revive(program, database, world, position, contents, log)
        return wrong
    except AssertionError as error:
        return [str(error)]
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
        return [f"{type(error).__name__}: {error}"]
