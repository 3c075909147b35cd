"""Clients of a cluster that write down every operation, while parts of the cluster fail. scripts/judge reads the file.

Each line is a JSON object. All have a `type`; times are nanoseconds of one clock.

  call      id, time, client, node, operation, room, and what was asked for: `key` and `text` of a send, `seq` and `text` of an edit,
            `limit` of a read of the newest messages
  answer    id, time, status, and what was answered: `message`, or `messages` with `rev` and `head` of a read. A call without an answer
            may have happened at any later time, or not at all
  fault     time, what
  begin     subscriber, time, reader, room, node, since: a subscription, which begins after this revision. The last one of a reader lasts
            until the reader has everything, or SETTLING has passed after all faults
  received  subscriber, time, message
  final     like the answer to a read of a whole room from one node, after all faults
"""

import base64
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import threading
import time

FIELDS = ("seq", "rev", "sender", "client_message_id", "text", "deleted")
ROOMS = ("hall", "yard")
TIMEOUT = 8  # seconds that a client waits for an answer
PAUSE = 0.01  # seconds between two operations of a client
PAGE = 200  # messages of a read
SETTLING = 60  # seconds until each subscriber must have everything, after all faults


def reduced(message):
    return {field: message[field] for field in FIELDS if field in message}


class History:
    """The file, which several threads append to."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.lock = threading.Lock()
        self.count = 0

    def add(self, kind, **fields):
        with self.lock:
            self.file.write(json.dumps({"type": kind, "time": time.monotonic_ns(), **fields}) + "\n")

    def call(self, **fields):
        with self.lock:
            self.count += 1
            number = self.count
            self.file.write(json.dumps({"type": "call", "time": time.monotonic_ns(), "id": number, **fields}) + "\n")
        return number

    def close(self):
        with self.lock:
            self.file.close()


def request(node, method, path, user, body=None):
    connection = http.client.HTTPConnection(node.host, node.port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.request(method, f"{path}{'&' if '?' in path else '?'}user={user}", None if body is None else json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def read_room(node, room, user):
    """All messages of a room, with the rev and head of the first page, or None if the room changed between two pages."""
    messages, state = [], None
    while True:
        after = messages[-1]["seq"] if messages else 0
        status, page = request(node, "GET", f"/v1/rooms/{room}/messages?after={after}&limit={PAGE}", user)
        if status != 200:
            return status, None
        found = {"rev": page["rev"], "head": page["head"]}
        if state not in (None, found):
            return 200, None
        state = found
        messages += [reduced(message) for message in page["messages"]]
        if not page["has_after"]:
            return 200, state | {"messages": messages}


class Client(threading.Thread):
    """Sends, edits, deletes and reads, at any node."""

    def __init__(self, history, number, nodes, seed, ends):
        super().__init__(daemon=True)
        self.history, self.number, self.nodes, self.ends = history, number, nodes, ends
        self.random = random.Random(f"{seed} {number}")
        self.user = f"user{number}"
        self.sent = []
        self.count = 0
        self.unsure = None  # a send without an answer, which is repeated

    def run(self):
        while not self.ends.wait(PAUSE):
            node, room, roll = self.random.choice(self.nodes), self.random.choice(ROOMS), self.random.random()
            if self.unsure:
                self.send(node, *self.unsure)
            elif roll < 0.6 or not self.sent:
                self.count += 1
                key = f"{self.user}-{self.count}"
                self.send(node, room, key)
            elif roll < 0.85:
                room, seq = self.random.choice(self.sent[-10:])
                self.change(node, room, seq)
            else:
                self.read(node, room)

    def ask(self, node, operation, method, path, body, **fields):
        number = self.history.call(client=self.number, node=node.name, operation=operation, **fields)
        try:
            status, answer = request(node, method, path, self.user, body)
        except (OSError, http.client.HTTPException, ValueError):
            return None, None
        message = {"message": reduced(answer)} if status < 300 else {"code": answer.get("code")}
        self.history.add("answer", id=number, status=status, **message)
        return status, answer

    def send(self, node, room, key):
        status, answer = self.ask(node, "send", "POST", f"/v1/rooms/{room}/messages", {"text": key, "client_message_id": key},
                                  room=room, key=key, text=key)
        self.unsure = (room, key) if status in (None, 503) else None
        if status in (200, 201):
            self.sent.append((room, answer["seq"]))

    def change(self, node, room, seq):
        path = f"/v1/rooms/{room}/messages/{seq}"
        if self.random.random() < 0.9:
            self.count += 1
            text = f"{self.user}-{self.count} edited"
            self.ask(node, "edit", "PATCH", path, {"text": text}, room=room, seq=seq, text=text)
        else:
            self.sent.remove((room, seq))
            self.ask(node, "delete", "DELETE", path, None, room=room, seq=seq)

    def read(self, node, room):
        number = self.history.call(client=self.number, node=node.name, operation="read", room=room, limit=PAGE)
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError):
            status, answer = request(node, "GET", f"/v1/rooms/{room}/messages?limit={PAGE}", self.user)
            if status == 200:
                self.history.add("answer", id=number, status=200, rev=answer["rev"], head=answer["head"],
                                 messages=[reduced(message) for message in answer["messages"]])


class Reader(threading.Thread):
    """A subscriber that goes on at another node when its connection ends."""

    def __init__(self, history, number, room, nodes, seed, ends):
        super().__init__(daemon=True)
        self.history, self.number, self.room, self.nodes, self.ends = history, number, room, nodes, ends
        self.random = random.Random(f"{seed} reader {number}")
        self.part = 0
        self.rev = 0
        self.epoch = None

    def run(self):
        while not self.ends.is_set():
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException, KeyError, IndexError):
                if self.epoch is None:
                    _, state = request(self.random.choice(self.nodes), "GET", f"/v1/rooms/{self.room}", "reader")
                    self.epoch = state["epoch"]
                self.follow(self.random.choice(self.nodes))
            self.ends.wait(0.05)

    def follow(self, node):
        with contextlib.closing(socket.create_connection((node.host, node.port), TIMEOUT)) as connection:
            key = base64.b64encode(os.urandom(16)).decode()
            connection.sendall(
                f"GET /v1/rooms/{self.room}/live?user=reader{self.number}&since={self.epoch}:{self.rev} HTTP/1.1\r\nHost: localhost\r\n"
                f"Accept: text/event-stream\r\nX-Key: {key}\r\n\r\n".encode())
            connection.settimeout(0.5)
            self.part += 1
            name = f"{self.number}.{self.part}"
            self.history.add("begin", subscriber=name, reader=self.number, room=self.room, node=node.name, since=self.rev)
            waiting = b""
            while not self.ends.is_set():
                try:
                    received = connection.recv(65536)
                except TimeoutError:
                    continue
                if not received:
                    return
                *lines, waiting = (waiting + received).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        frame = json.loads(line[6:])
                        if frame["type"] == "message":
                            self.history.add("received", subscriber=name, message=reduced(frame["message"]))
                            self.rev = frame["message"]["rev"]


def faults(history, cluster, seed, ends):
    """Kills, stops and restarts parts of the cluster until the end."""
    choices = random.Random(f"{seed} faults")
    while not ends.wait(choices.uniform(0.5, 1.5)):
        node = choices.choice(cluster.nodes)
        match choices.randrange(4):
            case 0:
                history.add("fault", what=f"kill {node.name}")
                node.stop(signal.SIGKILL)
                node.start()
            case 1:
                history.add("fault", what=f"stop {node.name} for a while")
                node.send(signal.SIGSTOP)
                ends.wait(choices.uniform(0.5, 3))
                node.send(signal.SIGCONT)
            case 2:
                history.add("fault", what="end connections to PostgreSQL")
                cluster.postgres.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'backscroll %'")
            case 3:
                history.add("fault", what="crash PostgreSQL")
                cluster.postgres.stop(signal.SIGQUIT)
                cluster.postgres.start()


def await_readers(readers, node):
    """Waits until each reader has everything. The judge finds those that never do."""
    revs = {room: request(node, "GET", f"/v1/rooms/{room}", "owner")[1]["rev"] for room in ROOMS}
    deadline = time.monotonic() + SETTLING
    while time.monotonic() < deadline and any(reader.rev < revs[reader.room] for reader in readers):
        time.sleep(0.05)


def record(path, cluster, seconds, seed, wait_until):
    """Writes a history of so many seconds, and the state of all rooms in the end."""
    history, ends, is_settled = History(path), threading.Event(), threading.Event()
    for room in ROOMS:
        request(cluster.nodes[0], "PUT", f"/v1/rooms/{room}", "owner", {"title": room})
    clients = [Client(history, number, cluster.nodes, seed, ends) for number in range(6)]
    readers = [Reader(history, number, ROOMS[number % 2], cluster.nodes, seed, is_settled) for number in range(4)]
    timer = threading.Timer(seconds, ends.set)
    for thread in (*clients, *readers, timer):
        thread.start()
    try:
        faults(history, cluster, seed, ends)
        for client in clients:
            client.join()
        for node in cluster.nodes:
            wait_until(lambda node=node: node.readiness() == 200, f"{node.name} is not ready again")
        await_readers(readers, cluster.nodes[0])
    finally:
        ends.set()
        is_settled.set()
        for thread in (*clients, *readers):
            thread.join()
    for room in ROOMS:
        for node in cluster.nodes:
            state = wait_until(lambda: read_room(node, room, "owner")[1], f"{room} changes on {node.name}")
            history.add("final", room=room, node=node.name, **state)
    history.close()
