"""A server under test, and clients that write down what they asked for and what they were answered.

Each thing that clients change (a message, a reaction, a title, a role, a mark, a ban, a room) has one client that changes it,
one change after the other. So its value after a power cut must be that of the last acknowledged change or of a later one.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import random
import re
import signal
import socket
import subprocess
import threading
import time

import sequence

SECRET = "a secret of thirty-two bytes and more"
ABSENT, DELETED, ERASED = "absent", "deleted", "erased"
START = 60  # seconds for a server's start, on a busy machine


def token(user, admin=False):
    """A token for a user."""
    def part(content):
        return base64.urlsafe_b64encode(content).rstrip(b"=")

    claims = {"sub": user, "exp": int(time.time()) + 3600} | ({"admin": True} if admin else {})
    signed = part(b'{"alg":"HS256"}') + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest())).decode()


def direct(user, other):
    """The id of the direct room of two users, whose ids are in byte order."""
    return "@" + base64.urlsafe_b64encode(hashlib.sha256(f"{user}\0{other}".encode()).digest())[:22].decode()


class Server:
    """A server of the program under test on a database."""

    def __init__(self, program, database, log, environment=None, flags=()):
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--host", "127.0.0.1", "--database", database, "--log-level", "error",
             *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(log, "ab"), text=True,
            env=dict(environment or {}, BACKSCROLL_JWT_SECRET=SECRET))
        # The line is missing if the server ends. A server that hangs is ended.
        timer = threading.Timer(START, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        found = re.search(r":(\d+)$", line.strip())
        self.port = int(found[1]) if found else None
        if not found:
            self.process.wait()

    @property
    def runs(self):
        return self.process.poll() is None

    def is_ready(self):
        """True once the server takes messages; false if it ends, or does not within some seconds."""
        deadline = time.monotonic() + START
        while self.runs and time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START)
                connection.request("GET", "/readyz")
                status = connection.getresponse().status
                connection.close()
                if status == 200:
                    return True
            time.sleep(0.02)
        return False

    def end(self, number=signal.SIGKILL):
        if self.runs:
            self.process.send_signal(number)
        try:
            self.process.wait(START)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()
        return self.process.wait()


class Call:
    """A request and its answer, or a command."""

    def __init__(self, what):
        self.what = what
        self.stream = self.index = self.status = self.answer = None
        self.position = None  # in the sequence, of the answer's first byte; None if it was not sent

    @property
    def succeeded(self):
        return self.status is not None and 200 <= self.status < 300


class Client:
    """A connection that sends one request at a time."""

    def __init__(self, user, calls, admin=False):
        self.user = user
        self.headers = {"Authorization": f"Bearer {token(user, admin)}"}
        self.calls = calls
        self.connection = None

    def connect(self, server):
        self.close()
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=START)
        self.connection.connect()
        # The library would send a request again on a new connection.
        self.connection.auto_open = 0
        # The name of the connection in the sequence.
        self.stream = server.process.pid, self.connection.sock.getsockname()[1]
        self.count = 0

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, method, path, body=None):
        """Sends a request, and waits for its answer; the call has none if the connection ends first."""
        call = Call(f"{method} {path}")
        call.stream, call.index = self.stream, self.count
        self.calls.append(call)
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
            self.count += 1
            response = self.connection.getresponse()
            content = response.read()
            call.status, call.answer = response.status, json.loads(content) if content.startswith(b"{") else None
        except (OSError, http.client.HTTPException, ValueError):
            pass
        return call


class Register:
    """Something with a value, and the changes that one client made to it, in order."""

    def __init__(self, value=ABSENT):
        self.first = value
        self.changes = []  # (value, call)
        self.witnesses = []  # (position, number of the change that a subscriber has received)

    def change(self, value, call):
        # A refused change has not happened. After a 503 or without an answer it may have.
        if call.status is None or call.succeeded or call.status >= 500:
            self.changes.append((value, call))

    def allowed(self, position):
        """The values that it may have if power was cut at this position."""
        known = 0
        for number, (_, call) in enumerate(self.changes, 1):
            if call.position is not None and call.succeeded and call.position < position:
                known = number
        for seen, number in self.witnesses:
            if seen < position:
                known = max(known, number)
        values = [self.first, *(value for value, _ in self.changes)]
        return values[known:]


class World:
    """What clients have done."""

    def __init__(self, seed):
        self.seed = seed
        self.calls = []
        self.lock = threading.Lock()
        self.messages = {}  # token of the text -> Register
        self.places = {}  # token -> (room, seq), from an answer
        self.marks, self.titles, self.roles, self.bans, self.reactions, self.rooms = ({} for _ in range(6))
        self.removals = {}  # token -> the last call before expiry, an erasure or the deletion of the room may take the message
        self.erasures = {}  # user -> Register
        self.wrong = []  # what clients have noticed themselves, a line each
        self.room_of = {}  # token -> room
        self.listeners = {}  # name of an event stream in the sequence -> Listener
        self.pushes = 0  # the events in the sequence that subscribers were sent
        self.clients = {}

    def register(self, table, key, value=ABSENT):
        with self.lock:
            return table.setdefault(key, Register(value))

    def client(self, user, admin=False):
        with self.lock:
            return self.clients.setdefault(user, Client(user, self.calls, admin))

    def complete(self, what, position):
        """Writes down a command that has succeeded, with the position of its last record."""
        call = Call(what)
        call.status, call.position = 200, position
        self.calls.append(call)
        return call

    def has_promised(self, position):
        """True if anything was acknowledged before a position."""
        return any(call.succeeded and call.position is not None and call.position < position for call in self.calls)

    def may_remove(self, name, position):
        """True if expiry, an erasure or the deletion of its room may have taken a message before a position."""
        last = self.removals.get(name)
        return last is not None and (last.position is None or last.position < position)

    def locate(self, records):
        """Finds the position of each answer in the sequence, and of what subscribers received."""
        found = sequence.streams(records)
        answers = {}
        for name, streams in found.items():
            if name not in self.listeners:
                answers[name] = [answer for stream in streams for answer in stream.answers()]
        for call in self.calls:
            if call.stream in answers and call.index < len(answers[call.stream]):
                call.position, call.status, _, body = answers[call.stream][call.index]
                call.answer = json.loads(body) if body.startswith(b"{") else None
        for register in self.messages.values():
            register.witnesses = []
        self.pushes = 0
        for name in self.listeners:
            for stream in found.get(name, ()):
                for position, data in stream.events():
                    self.pushes += 1
                    try:
                        frame = json.loads(data)
                    except ValueError:  # The last event may be cut off.
                        continue
                    if frame["type"] == "message":
                        self.witness(position, frame["message"])

    def witness(self, position, message):
        """Notes that a subscriber was sent a message, or its deletion by its sender."""
        place = message["room"], message["seq"]
        if message.get("deleted"):
            name = next((name for name, known in self.places.items() if known == place), None)
            version = DELETED
        else:
            name, version = split(message["text"])
        if name is None:
            return
        if name not in self.messages:
            self.wrong.append(f"a subscriber was sent a message that nobody has sent: {message}")
            return
        self.places.setdefault(name, place)
        register = self.messages[name]
        for number, (value, _) in enumerate(register.changes, 1):
            if value == version:
                register.witnesses.append((position, number))


def text(name, version, length):
    """The text of a version of a message, which shows if anything of it was changed."""
    fill = hashlib.sha256(f"{name} {version}".encode()).hexdigest()
    return f"{name} {version} " + (fill * (length // len(fill) + 1))[:length]


def split(content):
    """The name and the version of a message with this text; a text that nobody has sent raises ValueError."""
    name, version, fill = content.split(" ")
    if content != text(name, int(version), len(fill)):
        raise ValueError(f"a text that nobody has sent: {content[:60]!r}")
    return name, int(version)


class Actor:
    """One client's part of a mixed load. Its rooms and messages are changed by nobody else."""

    def __init__(self, world, number, sizes=(1, 40, 900)):
        self.world = world
        self.name = f"user{number}"
        self.random = random.Random(f"{world.seed} {number}")
        self.client = world.client(self.name)
        self.sizes = sizes
        self.sent = []  # [token, room, seq, version]
        self.drafts = {}  # token -> (room, body)
        self.count = 0
        self.own = f"room{number}"
        self.doomed = 0

    def send(self, room, client=None):
        client = client or self.client
        self.count += 1
        name = f"{client.user}-{self.count}"
        world = self.world
        world.room_of[name] = room
        register = world.register(world.messages, name)
        body = {"text": text(name, 0, self.random.choice(self.sizes)), "client_message_id": name}
        if client is self.client:
            self.drafts[name] = room, body
        call = client.ask("POST", f"/v1/rooms/{room}/messages", body)
        call.name = name
        register.change(0, call)
        if call.succeeded:
            self.place(name, room, call, client)
        return call

    def place(self, name, room, call, client):
        self.world.places[name] = room, call.answer["seq"]
        if client is self.client:
            self.sent.append([name, room, call.answer["seq"], 0])

    def repeat(self, name):
        """Sends a message again with its client_message_id. If it was acknowledged, the answer must name the same place."""
        room, body = self.drafts[name]
        known = self.world.places.get(name)
        call = self.client.ask("POST", f"/v1/rooms/{room}/messages", body)
        if known is None:
            self.world.messages[name].change(0, call)
            if call.succeeded:
                self.place(name, room, call, self.client)
        elif call.succeeded and (call.status != 200 or call.answer["seq"] != known[1]):
            self.world.wrong.append(f"{name} of {room}/{known[1]}, sent again, is answered {call.status} {call.answer['seq']}")
        return call

    def settle(self, server):
        """Repeats all sends without an acknowledgement, and some of the others. Returns false if some have none still."""
        others = [name for name in self.drafts if name in self.world.places]
        names = [name for name in self.drafts if name not in self.world.places]
        with contextlib.suppress(OSError):
            self.client.connect(server)
            for name in names + self.random.sample(others, min(3, len(others))):
                if self.repeat(name).status is None:
                    break
        return all(name in self.world.places for name in names)

    def act(self):
        """One request, chosen at random."""
        world, own = self.world, self.client.user
        roll = self.random.random()
        if roll > 0.95 and self.drafts:
            return self.repeat(self.random.choice(list(self.drafts)[-20:]))
        if roll < 0.55 or not self.sent:
            return self.send(self.random.choice(("lobby", "lobby", self.own, f"{self.own}-b")))
        entry = self.random.choice(self.sent[-20:])
        name, room, seq, version = entry
        path = f"/v1/rooms/{room}/messages/{seq}"
        if roll < 0.67:
            entry[3] = version = version + 1
            call = self.client.ask("PATCH", path, {"text": text(name, version, self.random.choice(self.sizes))})
            world.messages[name].change(version, call)
        elif roll < 0.71:
            self.sent.remove(entry)
            call = self.client.ask("DELETE", path)
            world.messages[name].change(DELETED, call)
        elif roll < 0.79:
            key = self.random.choice(("ok", "no"))
            register = world.register(world.reactions, (name, key, own), False)
            is_there = self.random.random() < 0.7
            call = self.client.ask("PUT" if is_there else "DELETE", f"{path}/reactions/{key}")
            register.change(is_there, call)
        elif roll < 0.85:
            call = self.client.ask("PUT", f"/v1/rooms/{room}/read", {"seq": seq})
            world.register(world.marks, (room, own), 0).change(seq, call)
        elif roll < 0.89:
            title = f"title {self.random.randrange(1000)}"
            call = self.client.ask("PUT", f"/v1/rooms/{self.own}", {"title": title})
            world.register(world.titles, self.own).change(title, call)
        elif roll < 0.92:
            other = f"guest{self.random.randrange(3)}"
            role = self.random.choice(("member", "owner", ABSENT))
            path = f"/v1/rooms/{self.own}/members/{other}"
            call = self.client.ask("DELETE", path) if role == ABSENT else self.client.ask("PUT", path, {"role": role})
            world.register(world.roles, (self.own, other)).change(role, call)
        else:
            other = f"pest{self.random.randrange(3)}"
            is_banned = self.random.random() < 0.7
            path = f"/v1/rooms/{self.own}/bans/{other}"
            call = self.client.ask("PUT", path, {}) if is_banned else self.client.ask("DELETE", path)
            world.register(world.bans, (self.own, other), False).change(is_banned, call)
        return call

    def make_jobs(self):
        """Fills a room and deletes it, and lets an admin erase a user who has sent."""
        self.doomed += 1
        world, room = self.world, f"doomed{self.name}-{self.doomed}"
        doomed = [self.send(room) for _ in range(12)]
        # They leave rows besides the messages.
        for sent, version in ((doomed[0], 1), (doomed[1], DELETED)):
            if sent.succeeded:
                path = f"/v1/rooms/{room}/messages/{sent.answer['seq']}"
                body = {"text": text(sent.name, 1, 40)}
                call = self.client.ask("DELETE", path) if version == DELETED else self.client.ask("PATCH", path, body)
                world.messages[sent.name].change(version, call)
        ghost = world.client(f"ghost{self.name}-{self.doomed}")
        ghost.connect(self.server)
        haunting = [self.send("lobby", ghost) for _ in range(6)]
        world.removals |= {call.name: haunting[-1] for call in doomed}
        self.sent = [entry for entry in self.sent if entry[1] != room]
        self.drafts = {name: draft for name, draft in self.drafts.items() if draft[0] != room}
        deletion = self.client.ask("DELETE", f"/v1/rooms/{room}")
        world.register(world.rooms, room, "there").change(DELETED, deletion)
        admin = world.client(f"admin{self.name}", admin=True)
        admin.connect(self.server)
        world.removals |= {call.name: deletion for call in haunting}
        world.register(world.erasures, ghost.user, "there").change(ERASED, admin.ask("DELETE", f"/v1/users/{ghost.user}"))

    def run(self, server, count, jobs=False):
        """Makes requests until the server is gone, or until there were enough."""
        self.server = server
        try:
            self.client.connect(server)
            for number in range(count):
                if jobs and number == count // 3:
                    self.make_jobs()
                if self.act().status is None:
                    if not server.runs:
                        return
                    self.client.connect(server)
        except OSError:
            return


class Listener(threading.Thread):
    """A subscriber of the lobby's event stream. What it was sent, and when, is read from the sequence."""

    def __init__(self, world, server):
        super().__init__(daemon=True)
        self.content = bytearray()
        self.socket = socket.create_connection(("127.0.0.1", server.port), START)
        self.socket.sendall(
            f"GET /v1/rooms/lobby/live HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            f"Authorization: Bearer {token('listener')}\r\n\r\n".encode())
        self.start()
        world.listeners[server.process.pid, self.socket.getsockname()[1]] = self

    def run(self):
        with contextlib.suppress(OSError):
            while part := self.socket.recv(65536):
                self.content += part

    def received(self):
        """The number of events that it has got, once its server has ended."""
        self.join(START)
        return len(sequence.EVENT.findall(self.content))


def drive(world, server, actors, count, jobs=False, during=None):
    """Runs a mixed load. `during` is called in the middle of it."""
    threads = [threading.Thread(target=actor.run, args=(server, count, jobs)) for actor in actors]
    with contextlib.suppress(OSError):
        Listener(world, server)
    for thread in threads:
        thread.start()
    if during:
        during()
    for thread in threads:
        thread.join()
