"""The checks of scripts/test-webhooks."""

import calendar
import collections
import contextlib
import gzip
import http.server
import json
import os
import pathlib
import random
import re
import selectors
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request

from standardwebhooks import Webhook

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts/cluster.d"), str(ROOT / "scripts/server.d")]
from cluster import Postgres  # noqa: E402
from server import BACKSCROLL, check, end, LOOPBACK, Server, token, wait  # noqa: E402

DATABASE = os.environ.get("BACKSCROLL_TEST_DATABASE")


class Receiver:
    """A receiver that records what it got, and answers as `behave` says: a status, or a function of its handler."""

    def __init__(self):
        self.events = []
        self.lock = threading.Lock()
        self.behave = lambda event: 204
        self.secret = None
        self.wrong = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    event = Webhook(receiver.secret).verify(body.decode(), {k.lower(): v for k, v in self.headers.items()})
                except Exception as error:
                    receiver.wrong.append(repr(error))
                    return self.send_error(401)
                answer = receiver.behave(event)
                # Before the answer: a receiver that has it may crash before it answers.
                with receiver.lock:
                    receiver.events.append((event, answer))
                if callable(answer):
                    self.close_connection = True
                    return answer(self)
                self.send_response(answer)
                if answer // 100 == 3:
                    self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # The sender ends connections of receivers that misbehave.
        self.server.handle_error = lambda *_: isinstance(sys.exc_info()[1], ConnectionError) or traceback.print_exc()
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook"

    def create(self, server, name, **settings):
        status, webhook = server.ask("PUT", f"/v1/admin/webhooks/{name}", {"url": self.url, **settings})
        assert status == 201, webhook
        self.secret = webhook["secret"]

    def received(self, accepted_only=False):
        """Returns the messages by room, each (epoch, rev) once, in the order of arrival. Fails if any came out of order."""
        rooms = collections.defaultdict(list)
        revs, ends = collections.defaultdict(int), collections.defaultdict(int)
        with self.lock:
            events = list(self.events)
        for event, answer in events:
            if event["type"] != "messages":
                continue
            key = (event["room"], event["epoch"])
            # The messages of an attempt that was not accepted may all have changed again before the next one, which then
            # begins where it has ended.
            assert event["since"] <= ends[key], f"{key} jumps from {ends[key]} to {event['since']}"
            ends[key] = max(ends[key], event["rev"])
            if accepted_only and answer != 204 and answer not in ACCEPTED:
                continue
            for message in event["messages"]:
                if message["rev"] > revs[key]:
                    rooms[event["room"]].append(message)
                    revs[key] = message["rev"]
        return rooms


def garbage(handler):
    handler.wfile.write(b"this is not HTTP\r\n\r\n")


def half(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


def endless(handler):
    handler.wfile.write(b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\n\r\n")
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        pass


def close(handler):
    handler.connection.close()


def reset(handler):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def other_protocol(handler):
    handler.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")


def header_without_end(handler):
    handler.wfile.write(b"HTTP/1.1 204 No Content\r\n")
    try:
        while True:
            handler.wfile.write(b"X: " + b"x" * 1000 + b"\r\n")
    except OSError:
        pass


def odd_retry(handler):
    value = random.choice(["-1", "soon", "0", "99999999999999999999x", "Thu, 01 Jan 1970 00:00:00 GMT"])
    handler.wfile.write(f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode())


def drips(handler):
    for byte in b"HTTP/1.1 502 Bad\r\nContent-Length: 3\r\n\r\nbad":
        handler.wfile.write(bytes([byte]))
        time.sleep(0.002)


def broken_chunks(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnothing\r\n")


def twice(handler):
    """Leaves another answer on the connection, which must not count for the next delivery."""
    handler.close_connection = False
    handler.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")


def continues(handler):
    handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 9 + b"HTTP/1.1 204 No Content\r\n\r\n")


def zipped(handler):
    bomb = gzip.compress(bytes(4 << 20))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    handler.wfile.write(head.encode() + bomb)


def written(answer):
    """Returns a behavior that writes an answer and ends the connection."""
    return lambda handler: handler.wfile.write(answer)


# Answers that take the delivery, however they look.
ACCEPTED = [
    twice, continues, zipped,
    written(b"HTTP/1.0 204 No Content\r\n\r\n"),
    written(b"HTTP/1.0 200 OK\r\n\r\nbody"),
    written(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
    written(b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody"),
    written(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger"),
    written(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX: y\r\n\r\n"),
]
# Answers that do not.
REFUSED = [
    written(b""), written(b"\r\n\r\n"), written(b"HTTP/1.1 200 OK\r\nContent-Le"),
    written(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    written(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n"),
    written(b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody"),
    written(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nbody\r\n0\r\n\r\n"),
    written(b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n"),
    written(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"),
]


def survives(kills):
    """Nothing is lost and everything is in order with a receiver that misbehaves and a server that is killed.

    Another receiver gets everything while the first one still misbehaves.
    """
    receiver, other = Receiver(), Receiver()
    generator = random.Random(7)
    misbehavior = [
        204, 204, 204, 500, 503, 302, 429, 404, garbage, half, endless, close, reset, other_protocol, header_without_end,
        odd_retry, drips, broken_chunks, *REFUSED, *ACCEPTED,
    ]
    stored = collections.defaultdict(list)
    stop = threading.Event()
    with Server(*LOOPBACK, database=DATABASE) as server:
        receiver.create(server, "a", rooms=["room-*"])
        other.create(server, "other", rooms=["room-*"])
        receiver.behave = lambda event: generator.choice(misbehavior)

        def send(number):
            count = 0
            while not stop.is_set():
                count += 1
                room, text = f"room-{count % 5}", f"{number}.{count}"
                body = {"text": text, "client_message_id": f"{number}-{count}"}
                while True:
                    try:
                        status, message = server.ask("POST", f"/v1/rooms/{room}/messages", body, user="alice")
                    except OSError:
                        time.sleep(0.05)
                        continue
                    if status in (200, 201):
                        break
                    time.sleep(0.05)
                stored[room].append(text)
                if count % 7 == 0:
                    try:
                        server.ask("DELETE", f"/v1/rooms/{room}/messages/{message['seq']}", user="alice")
                    except OSError:
                        pass
                time.sleep(0.005)

        threads = [threading.Thread(target=send, args=[number]) for number in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            seen = len(receiver.events)
            wait(lambda: len(receiver.events) > seen + 25, "deliveries come")
            server.kill()
            server.start()
        seen = len(receiver.events)
        wait(lambda: len(receiver.events) > seen + 25, "deliveries come")
        stop.set()
        for thread in threads:
            thread.join()
        wait(lambda: server.state("other")["rooms_behind"] == 0, "the other receiver has everything")
        receiver.behave = lambda event: 204
        # All rooms that wait are tried at once.
        server.ask("PUT", "/v1/admin/webhooks/a", {"enabled": True})
        wait(lambda: server.state("a")["rooms_behind"] == 0, "the receiver has everything")
        for messages in receiver.received(), receiver.received(accepted_only=True), other.received():
            for room in stored:
                # Each message of the room in its present state, and no other.
                last = {}
                for message in messages[room]:
                    last[message["seq"]] = message
                cursor, current = 0, {}
                while True:
                    answer = server.ask("GET", f"/v1/rooms/{room}/changes?since={cursor}&limit=1000", user="alice")[1]
                    for message in answer["messages"]:
                        current[message["seq"]] = message
                    cursor = answer["rev"]
                    if not answer["has_more"]:
                        break
                assert last == current, f"{room}: {len(last)} received, {len(current)} stored"
                revs = [message["rev"] for message in messages[room]]
                assert revs == sorted(set(revs)), f"{room} is out of order"
        assert not receiver.wrong and not other.wrong, (receiver.wrong[:3], other.wrong[:3])


def events_survive(kills, nodes=1, database=DATABASE):
    """Events of rooms, members and reports come in the order of their room, each once after de-duplication.

    Of several nodes the first one delivers. It is killed, and started again once another one delivers, which is the next to be
    killed.
    """
    receiver = Receiver()
    generator = random.Random(8)
    rooms = [f"events-{number}" for number in range(4)]
    expected = collections.defaultdict(list)
    stop = threading.Event()
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(*LOOPBACK, database=database)) for _ in range(nodes)]
        server = servers[0]
        kinds = ["message", "room", "member", "report"]
        receiver.create(server, "e", rooms=["events-*"], events=kinds)
        receiver.behave = lambda event: generator.choice([204, 204, 204, 500, 503, half, close])

        def until_done(method, path, body=None, user="alice"):
            """Asks until there is an answer, and returns true if the change may have been made twice."""
            again = False
            while True:
                try:
                    status, answer = random.choice(servers).ask(method, path, body, user=user)
                    if status < 500:
                        assert status < 300, (path, answer)
                        return again
                except OSError:
                    pass
                again = True
                time.sleep(0.05)

        def change(room):
            until_done("PUT", f"/v1/rooms/{room}", {"title": "first"})
            count = 0
            while not stop.is_set():
                count += 1
                user, path = f"user-{count}", f"/v1/rooms/{room}"
                # Each is made once, however often it is asked for: a member who is one, and a message with an id.
                until_done("PUT", f"{path}/members/{user}")
                expected[room].append(("member.added", user))
                until_done("POST", f"{path}/messages", {"text": user, "client_message_id": user})
                expected[room].append(("message", user))
                if count % 3 == 0:
                    until_done("DELETE", f"{path}/members/{user}")
                    expected[room].append(("member.removed", user))
                if count % 5 == 0:
                    until_done("POST", f"{path}/messages/{count}/reports", {"reason": "spam"}, user=f"reporter-{count}")
                    expected[room].append(("report.made", f"reporter-{count}"))

        threads = [threading.Thread(target=change, args=[room]) for room in rooms]
        for thread in threads:
            thread.start()
        for number in range(kills):
            seen = len(receiver.events)
            wait(lambda: len(receiver.events) > seen + 40, "deliveries come")
            killed = servers[number % nodes]
            killed.kill()
            if nodes > 1:
                seen = len(receiver.events)
                wait(lambda: len(receiver.events) > seen + 40, "another node delivers")
            killed.start()
        seen = len(receiver.events)
        wait(lambda: len(receiver.events) > seen + 40, "deliveries come")
        stop.set()
        for thread in threads:
            thread.join()
        receiver.behave = lambda event: 204
        server.ask("PUT", "/v1/admin/webhooks/e", {"enabled": True})
        wait(lambda: server.state("e")["rooms_behind"] == 0, "the receiver has everything")
        for accepted_only in False, True:
            happened = collections.defaultdict(list)
            places, revs = collections.defaultdict(int), collections.defaultdict(int)
            for event, answer in list(receiver.events):
                if event["type"] in ("test", "epoch") or (accepted_only and answer != 204):
                    continue
                room = event["room"]
                if event["type"] == "messages":
                    for message in event["messages"]:
                        if message["rev"] > revs[room]:
                            happened[room].append(("message", message["text"]))
                    revs[room] = max(revs[room], event["rev"])
                elif event["event"] > places[room]:
                    assert event["rev"] == revs[room] or not accepted_only, (event, revs[room])
                    places[room] = event["event"]
                    user = event["by"] if event["type"] == "report.made" else event.get("user")
                    if user != "alice" and event["type"] != "room.changed":
                        happened[room].append((event["type"], user))
            for room in rooms:
                seen = [item for item in happened[room] if item[0] != "room.created"]
                assert seen == expected[room], f"{room}: {list(zip(seen, expected[room]))[-5:]}"
                assert len(happened[room]) == len(seen) + 1, f"{room} was created once"
        assert not receiver.wrong, receiver.wrong[:3]


def is_stopped_and_skipped():
    receiver = Receiver()
    with Server(*LOOPBACK, database=DATABASE) as server:
        receiver.create(server, "b", rooms=["stop-*"])
        receiver.behave = lambda event: 413 if event["room"] == "stop-1" else 204
        for room in "stop-1", "stop-2":
            assert server.ask("POST", f"/v1/rooms/{room}/messages", {"text": "x"}, user="alice")[0] == 201
        wait(lambda: server.state("b")["stopped_rooms"], "the room is stopped")
        wait(lambda: any(event["room"] == "stop-2" for event, _ in receiver.events), "the other room is delivered")
        stopped = server.state("b")["stopped_rooms"][0]
        receiver.behave = lambda event: 204
        assert server.ask("POST", "/v1/admin/webhooks/b/skip", stopped)[0] == 200
        wait(lambda: server.state("b")["rooms_behind"] == 0, "the room goes on")
        assert server.ask("POST", "/v1/admin/webhooks/b/test")[1]["status"] == 204
        assert [event["type"] for event, _ in receiver.events].count("test") == 1
        assert server.ask("DELETE", "/v1/admin/webhooks/b")[0] == 204


def addresses_are_refused():
    with Server("--webhook-allow-http", database=DATABASE) as server:
        for url in [
            "http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://169.254.169.254/", "http://u@example.com/",
            "ftp://example.com/", "http://[::ffff:127.0.0.1]/", "http://[::]/", "http://[::127.0.0.1]/",
            "http://[::ffff:0:7f00:1]/", "http://[64:ff9b:1::7f00:1]/", "http://168.63.129.16/", "http://127.0.0.1\\@example.com/",
        ]:
            status, problem = server.ask("PUT", "/v1/admin/webhooks/c", {"url": url})
            assert status == 400 and problem["field"] == "url", (url, problem)
        # A name is judged when it is connected to.
        for url in (
            "http://localhost:1/", "http://localhost.:1/", "http://2130706433/", "http://0x7f.1/", "http://0/", "http://017700000001/",
            "http://[fe80::1%25lo]/", "http://127。0。0。1/",
        ):
            if server.ask("PUT", "/v1/admin/webhooks/c", {"url": url})[0] == 400:
                continue
            answer = server.ask("POST", "/v1/admin/webhooks/c/test")[1]
            assert answer["received"] is False and "status" not in answer, (url, answer)
        server.ask("DELETE", "/v1/admin/webhooks/c")


def nodes_take_over(kills):
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        postgres = Postgres(directory)
        postgres.start()
        try:
            postgres.create("backscroll")
            events_survive(kills, nodes=2, database=postgres.url("backscroll"))
        finally:
            postgres.stop()


def used(server):
    """Returns the seconds of CPU time that a server has used."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def add_rooms(file, count):
    """Adds quiet rooms to the database of a server that has ended."""
    if DATABASE:
        statement = f"INSERT INTO rooms (name) SELECT 'quiet-' || number FROM generate_series(1, {count}) AS number"
        subprocess.run(["psql", "--quiet", "--command", statement, DATABASE], check=True)
        return
    # Python would write pages without checksums.
    with subprocess.Popen([BACKSCROLL, "import", "--database", file], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as command:
        for number in range(count):
            line = {"room": f"quiet-{number}", "sender": "alice", "text": "quiet", "created_at": "2026-11-01T00:00:00Z"}
            print(json.dumps(line), file=command.stdin)
    assert command.returncode == 0


def measure_rooms(count, active=10, seconds=20):
    """Prints the work for some active rooms alone and beside many quiet ones, each without and with a webhook."""
    for quiet in 0, count:
        receiver = Receiver()
        with Server(*LOOPBACK, database=DATABASE) as server:
            server.process.terminate()
            server.process.wait()
            add_rooms(f"{server.directory.name}/chat.db", quiet)
            server.start()
            delays, sent = [], {}

            def arrived(event):
                for message in event.get("messages", []):
                    delays.append(time.monotonic() - sent[message["text"]])
                return 204

            receiver.behave = arrived
            for has_webhook in False, True:
                if has_webhook:
                    receiver.create(server, "many", events=["message", "member"])
                sent.clear()
                # What a server does after it starts is not counted.
                last = -1
                while used(server) > last:
                    last = used(server)
                    time.sleep(1)
                for _turn in range(seconds * 5):
                    for number in range(active):
                        text = f"{len(sent)}"
                        sent[text] = time.monotonic()
                        server.ask("POST", f"/v1/rooms/active-{number}/messages", {"text": text}, user="alice")
                    time.sleep(0.1)
                wait(lambda: not has_webhook or len(delays) == len(sent), "all messages are delivered")
                text = f"{quiet + active:,} rooms, {len(sent)} messages: CPU time {used(server) - last:.2f} s"
                if has_webhook:
                    text += f" with a webhook, delay p50 {statistics.median(delays) * 1000:.1f} ms"
                print(text, flush=True)
            server.ask("DELETE", "/v1/admin/webhooks/many")


def measure_rate(rate, seconds=20, rooms=50):
    """Prints how fast sends are acknowledged, without and with a webhook that gets them, and how late the deliveries are."""
    for has_webhook in False, True:
        receiver = Receiver()
        with Server(*LOOPBACK, database=DATABASE) as server:
            delays = []

            def arrived(event):
                now = time.time()
                for message in event.get("messages", []):
                    created = message["created_at"].rstrip("Z")
                    stamp = calendar.timegm(time.strptime(created[:19], "%Y-%m-%dT%H:%M:%S")) + float("0" + created[19:])
                    delays.append(now - stamp)
                return 204

            receiver.behave = arrived
            if has_webhook:
                receiver.create(server, "rate")
            before = used(server)
            load = subprocess.run(
                [ROOT / ".build/release/backscroll-tools", "load", server.url, "--header",
                 f"Authorization: Bearer {token('alice')}", "--subscribers", "0", "--rooms", str(rooms),
                 "--rate", str(rate), "--seconds", str(seconds), "--warmup", "0"],
                capture_output=True, text=True)
            print(load.stdout.strip() or load.stderr.strip(), flush=True)
            if has_webhook:
                wait(lambda: server.state("rate")["rooms_behind"] == 0, "the receiver has everything")
                delays.sort()
                print(
                    f"webhook: {len(delays)} messages, delay p50 {delays[len(delays) // 2] * 1000:.0f} ms, "
                    f"p99 {delays[len(delays) * 99 // 100] * 1000:.0f} ms, max {delays[-1] * 1000:.0f} ms")
            print(f"CPU time {used(server) - before:.2f} s with{'' if has_webhook else 'out'} a webhook", flush=True)


@contextlib.contextmanager
def cheap_receiver(cores):
    """A process that answers each request with 204 without a look at it, and yields its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, cores)
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            rest = {}
            while True:
                for key, _ in selector.select():
                    if key.fileobj is listener:
                        connection = listener.accept()[0]
                        rest[connection] = b""
                        selector.register(connection, selectors.EVENT_READ)
                        continue
                    connection, data = key.fileobj, key.fileobj.recv(1 << 20)
                    if not data:
                        selector.unregister(connection)
                        connection.close()
                        continue
                    data = rest[connection] + data
                    end = data.find(b"\r\n\r\n") + 4
                    if end < 4 or len(data) < end + int(re.search(rb"Content-Length: (\d+)", data)[1]):
                        rest[connection] = data
                        continue
                    rest[connection] = b""
                    connection.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    try:
        yield listener.getsockname()[1]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        listener.close()


def deliveries(server):
    """Returns the number of deliveries that receivers have taken."""
    metrics = urllib.request.urlopen(f"{server.url}/metrics").read().decode()
    return sum(map(float, re.findall(r"^backscroll_webhook_attempts_total\{[^}]*\"ok\"[^}]*\} (.+)", metrics, re.MULTILINE)))


def measure_comparison(rate, cores=1, rounds=5, seconds=10, rooms=50):
    """Prints how fast sends are acknowledged without and with a webhook, in turn, and the median of the rounds.

    The server has the first cores for itself, unless there are no more. The load and a receiver that costs little share the
    others.
    """
    def show(has_webhook, p50, p99, seconds, count):
        name = f"with a webhook, {count:.0f} deliveries" if has_webhook else "without a webhook"
        print(f"{name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, CPU time {seconds:.2f} s", flush=True)

    every = sorted(os.sched_getaffinity(0))
    first, others = every[:cores], every[cores:] or every
    os.sched_setaffinity(0, others)
    results = collections.defaultdict(list)
    with cheap_receiver(others) as port:
        for _ in range(rounds):
            for has_webhook in False, True:
                with Server(*LOOPBACK, database=DATABASE) as server:
                    for thread in os.listdir(f"/proc/{server.process.pid}/task"):
                        os.sched_setaffinity(int(thread), first)
                    if has_webhook:
                        settings = {"url": f"http://127.0.0.1:{port}/", "enabled": True}
                        assert server.ask("PUT", "/v1/admin/webhooks/rate", settings)[0] in (200, 201)
                    before = used(server)
                    load = subprocess.run(
                        [ROOT / ".build/release/backscroll-tools", "load", server.url, "--json", "--header",
                         f"Authorization: Bearer {token('alice')}", "--subscribers", "0", "--rooms", str(rooms),
                         "--rate", str(rate), "--seconds", str(seconds), "--warmup", "2"],
                        stdout=subprocess.PIPE, text=True, check=True)
                    answer = json.loads(load.stdout)["ack_ms"]
                    if has_webhook:
                        wait(lambda: server.state("rate")["rooms_behind"] == 0, "the receiver has everything")
                        server.ask("DELETE", "/v1/admin/webhooks/rate")
                    results[has_webhook].append((answer["p50"], answer["p99"], used(server) - before, deliveries(server)))
                    show(has_webhook, *results[has_webhook][-1])
    print("medians:")
    medians = {key: [statistics.median(column) for column in zip(*rows, strict=True)] for key, rows in results.items()}
    for has_webhook, row in medians.items():
        show(has_webhook, *row)
    print(f"CPU time of a delivery: {(medians[True][2] - medians[False][2]) / medians[True][3] * 1e6:.0f} µs")


def badges(receiver, accepted_only):
    """Returns the badges that phones show, and the messages that were pushed to each user."""
    shown, pushed = {}, collections.defaultdict(list)
    with receiver.lock:
        events = list(receiver.events)
    for event, answer in events:
        if accepted_only and answer != 204:
            continue
        for recipient in event["recipients"]:
            shown[recipient["user"]] = recipient["badge"]
            if event["type"] == "push":
                pushed[recipient["user"], event["room"]].append(event["message"]["seq"])
    return shown, pushed


def pushes_follow_reads(kills):
    """Badges are right in the end, and every message is covered, with a gateway that misbehaves and a server that is killed."""
    receiver = Receiver()
    generator = random.Random(11)
    users, rooms = ["alice", "bob", "carol"], ["push-1", "push-2"]
    with Server(*LOOPBACK, database=DATABASE) as server:
        for room in rooms:
            assert server.ask("PUT", f"/v1/rooms/{room}", {"title": room}, user="alice")[0] == 201
            for user in users[1:]:
                assert server.ask("PUT", f"/v1/rooms/{room}/members/{user}", {}, user=user)[0] == 201
        receiver.create(server, "p", rooms=["push-*"], events=["push"])

        # A push, read elsewhere, which clears the badge.
        assert server.ask("POST", "/v1/rooms/push-1/messages", {"text": "x"}, user="alice")[0] == 201
        wait(lambda: badges(receiver, True)[0] == {"bob": 1, "carol": 1}, "both are told")
        assert server.ask("POST", "/v1/rooms/push-1/messages", {"text": "y", "silent": True}, user="alice")[0] == 201
        assert server.ask("PUT", "/v1/rooms/push-1/read", {"seq": 2}, user="bob")[0] == 200
        wait(lambda: badges(receiver, True)[0]["bob"] == 0, "the badge falls")
        last = receiver.events[-1][0]
        assert last["type"] == "push.clear" and last["recipients"] == [{"user": "bob", "room": "push-1", "badge": 0}], last

        receiver.behave = lambda event: generator.choice([204, 204, 204, 500, 503, 302, garbage, half, close])
        stop = threading.Event()
        heads = collections.Counter({"push-1": 2})

        def ask(*arguments, **options):
            while True:
                try:
                    status, answer = server.ask(*arguments, **options)
                    if status < 500:
                        return answer
                except OSError:
                    pass
                time.sleep(0.05)

        def work(user):
            count = 0
            while not stop.is_set():
                count += 1
                room = random.choice(rooms)
                body = {"text": "x", "client_message_id": f"{user}-{count}"}
                message = ask("POST", f"/v1/rooms/{room}/messages", body, user=user)
                heads[room] = max(heads[room], message["seq"])
                if count % 3 == 0:
                    ask("PUT", f"/v1/rooms/{room}/read", {"seq": max(1, message["seq"] - count % 2)}, user=user)
                if count % 7 == 0:
                    ask("DELETE", f"/v1/rooms/{room}/messages/{message['seq']}", user=user)
                time.sleep(0.02)

        threads = [threading.Thread(target=work, args=[user]) for user in users]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            seen = len(receiver.events)
            wait(lambda: len(receiver.events) > seen + 25, "pushes come")
            server.kill()
            server.start()
        stop.set()
        for thread in threads:
            thread.join()
        receiver.behave = lambda event: 204
        server.ask("PUT", "/v1/admin/webhooks/p", {"enabled": True})
        wait(lambda: server.state("p")["rooms_behind"] == 0, "nothing is due")
        # The last message of all, to everybody with something unread.
        for user in users:
            for room in rooms:
                ask("POST", f"/v1/rooms/{room}/messages", {"text": "last"}, user=user)

        def unread(user, room):
            return ask("GET", f"/v1/rooms/{room}", user=user)["unread"]

        def are_right():
            totals = {user: sum(unread(user, room) for room in rooms) for user in users}
            return all(badges(receiver, only)[0] == totals for only in (True, False))

        wait(are_right, "all badges are right")
        for user in users:
            for room in rooms:
                head = ask("GET", f"/v1/rooms/{room}", user=user)["head"]
                ask("PUT", f"/v1/rooms/{room}/read", {"seq": head}, user=user)
        wait(are_right, "all badges are 0")
        for (user, room), seqs in badges(receiver, True)[1].items():
            # At most what was in flight when the server was killed came twice.
            assert len(seqs) - len(set(seqs)) <= kills, f"{user} was told of messages of {room} again: {seqs}"
            assert seqs == sorted(seqs), f"{user} was told out of order: {seqs}"
        assert not receiver.wrong, receiver.wrong[:3]


if sys.argv[1:2] == ["--rooms"]:
    raise SystemExit(measure_rooms(int(sys.argv[2])))
if sys.argv[1:2] == ["--compare"]:
    raise SystemExit(measure_comparison(*map(int, sys.argv[2:])))
if sys.argv[1:2] == ["--rate"]:
    raise SystemExit(measure_rate(int(sys.argv[2])))
check("a webhook survives misbehaving receivers and kills of the server", survives, 3)
check("events of rooms, members and reports survive kills of the server, in order", events_survive, 3)
check("another node takes over when the one that delivers is killed, with nothing lost and in order", nodes_take_over, 2)
check("pushes and badges survive a misbehaving gateway and kills of the server", pushes_follow_reads, 3)
check("a room that is refused for ever is stopped until it is skipped", is_stopped_and_skipped)
check("addresses that are not public are refused", addresses_are_refused)
end()
