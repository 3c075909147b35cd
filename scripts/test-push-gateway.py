"""The checks of scripts/test-push-gateway."""

import collections
import contextlib
import datetime
import http.server
import ipaddress
import json
import os
import pathlib
import random
import re
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import h2.config
import h2.connection
import h2.events
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from standardwebhooks import Webhook

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/server.d"))
from server import ask, check, end, LOOPBACK, SECRET, Server, wait  # noqa: E402

WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TOPIC, TEAM, KEY, PROJECT = "com.example.chat", "TEAM123456", "KEY1234567", "chat-project"
ACCOUNT, ACCOUNT_KEY = "gateway@chat-project.iam.gserviceaccount.com", "0123abcd"


def private(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


class Service:
    """What the fakes share: the notifications that they took by device, what was wrong with others, and how to behave."""

    def __init__(self):
        self.taken = collections.defaultdict(list)
        self.wrong = []
        self.behave = lambda device: None  # None, "close", or a status with the answer and headers
        self.lock = threading.Lock()

    def answer(self, examine, headers, body, path):
        """Examines a request. Returns "close", or the status, the answer and headers."""
        try:
            device, shown = examine(headers, body, path)
        except Exception as error:
            with self.lock:
                self.wrong.append(f"{error!r}: {path} {headers} {body[:500]}")
            return 400, {"reason": "Wrong"}, {}
        with self.lock:
            behavior = self.behave(device)
            if behavior in (None, "close after"):
                self.taken[device].append(shown)
        return behavior or (200, {}, {})


class APNs(Service):
    """A fake of APNs: HTTP/2 with TLS."""

    def __init__(self, directory):
        super().__init__()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.tokens = set()
        certificate_key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.datetime.now(datetime.UTC)
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(certificate_key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(1))
            .not_valid_after(now + datetime.timedelta(1)).add_extension(address, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(certificate_key, hashes.SHA256()))
        self.certificate = directory / "certificate.pem"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (directory / "certificate-key.pem").write_text(private(certificate_key))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, directory / "certificate-key.pem")
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), self.context.wrap_socket(connection, server_side=True) as stream:
            http2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
            http2.initiate_connection()
            requests = {}
            while True:
                stream.sendall(http2.data_to_send())
                data = stream.recv(65536)
                if not data:
                    return
                for event in http2.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        requests[event.stream_id] = (dict(event.headers), bytearray())
                    elif isinstance(event, h2.events.DataReceived):
                        requests[event.stream_id][1].extend(event.data)
                        http2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    elif isinstance(event, h2.events.StreamEnded):
                        headers, body = requests.pop(event.stream_id)
                        answer = self.answer(self.examine, headers, bytes(body), headers[":path"])
                        if isinstance(answer, str):
                            return  # without an answer to any stream
                        status, content, more = answer
                        fields = [(":status", str(status)), ("apns-id", headers.get("apns-id", "")), *more.items()]
                        http2.send_headers(event.stream_id, fields, end_stream=status == 200)
                        if status != 200:
                            http2.send_data(event.stream_id, json.dumps(content).encode(), end_stream=True)

    def examine(self, headers, body, path):
        """Checks a request as "Sending notification requests to APNs" says."""
        assert headers[":method"] == "POST"
        device = re.fullmatch(r"/3/device/([0-9a-f]+)", path)[1]
        scheme, token = headers["authorization"].split()
        assert scheme == "bearer" and jwt.get_unverified_header(token)["kid"] == KEY
        claims = jwt.decode(token, self.key.public_key(), ["ES256"], options={"require": ["iss", "iat"]})
        assert claims["iss"] == TEAM and time.time() - 3600 < claims["iat"] <= time.time() + 1
        self.tokens.add(token)
        assert headers["apns-topic"] == TOPIC
        assert len(headers.get("apns-collapse-id", "").encode()) <= 64
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", headers["apns-id"])
        assert time.time() < int(headers["apns-expiration"]) < time.time() + 30 * 86400
        assert len(body) <= 4096, len(body)
        payload = json.loads(body)
        aps = payload["aps"]
        assert set(aps) <= {"alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content"}
        if headers["apns-push-type"] == "background":
            assert aps == {"content-available": 1} and headers["apns-priority"] == "5"
        else:
            assert headers["apns-push-type"] == "alert" and headers["apns-priority"] in ("5", "10")
            assert "alert" in aps or "badge" in aps
            assert "alert" not in aps or (aps["mutable-content"] == 1 and headers["apns-collapse-id"] and aps["thread-id"])
        assert type(aps["badge"]) is int and aps["badge"] >= 0
        alert = aps.get("alert", {})
        return device, {
            "type": payload["type"], "room": payload["room"], "seq": payload.get("seq"), "badge": aps["badge"],
            "title": alert.get("title"), "text": alert.get("body"), "collapse_id": headers.get("apns-collapse-id"),
        }


class FCM(Service):
    """A fake of FCM, and of the token endpoint of its service accounts."""

    def __init__(self):
        super().__init__()
        self.key = rsa.generate_private_key(65537, 2048)
        self.tokens = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:  # of a gateway that was killed
                    self.close_connection = True
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                if self.path == "/token":
                    answer = service.token(headers, body)
                else:
                    answer = service.answer(service.examine, headers, body, self.path)
                if isinstance(answer, str):
                    self.close_connection = True
                    return
                status, content, more = answer
                content = json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**more, "Content-Type": "application/json", "Content-Length": len(content)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        class QuietServer(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client):  # the gateway was killed
                assert isinstance(sys.exc_info()[1], ConnectionError)

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def token(self, headers, body):
        """Checks a request as "Using OAuth 2.0 for server to server applications" says."""
        try:
            assert headers["content-type"] == "application/x-www-form-urlencoded"
            form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
            assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
            assertion = form["assertion"]
            assert jwt.get_unverified_header(assertion)["kid"] == ACCOUNT_KEY
            claims = jwt.decode(
                assertion, self.key.public_key(), ["RS256"], audience=f"{self.url}/token", options={"require": ["exp", "iat"]})
            assert claims["iss"] == ACCOUNT and claims["exp"] - claims["iat"] <= 3600
            assert claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
        except Exception as error:
            self.wrong.append(f"{error!r}: {body}")
            return 400, {"error": "invalid_grant"}, {}
        self.tokens.append(f"ya29.{len(self.tokens)}")
        return 200, {"access_token": self.tokens[-1], "expires_in": 3599, "token_type": "Bearer"}, {}

    def examine(self, headers, body, path):
        """Checks a request as the reference of "projects.messages.send" says."""
        assert path == f"/v1/projects/{PROJECT}/messages:send"
        assert headers["authorization"].removeprefix("Bearer ") in self.tokens
        assert headers["content-type"].startswith("application/json") and len(body) <= 4096
        content = json.loads(body)
        message = content["message"]
        assert set(content) == {"message"} and set(message) <= {"token", "data", "notification", "android"}
        data, android, shown = message["data"], message["android"], message.get("notification", {})
        assert all(type(value) is str for value in data.values())
        assert not {"from", "message_type", "collapse_key"} & set(data)
        assert set(android) <= {"priority", "ttl", "notification", "collapse_key"} and android["priority"] in ("NORMAL", "HIGH")
        assert 0 <= int(re.fullmatch(r"(\d+)s", android["ttl"])[1]) <= 28 * 86400
        assert set(shown) <= {"title", "body"} and set(android.get("notification", {})) <= {"tag", "notification_count"}
        if shown:
            assert android["notification"]["tag"] == data["room"] and type(android["notification"]["notification_count"]) is int
        seq = int(data["seq"]) if "seq" in data else None
        return message["token"], {
            "type": data["type"], "room": data["room"], "seq": seq, "badge": int(data["badge"]),
            "title": shown.get("title"), "text": shown.get("body"), "collapse_id": None,
        }


class Gateway:
    """A gateway whose process can be killed and started again, with both services."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self.temporary.name)
        self.apns, self.fcm = APNs(self.directory), FCM()
        self.write("jwt-secret", SECRET)
        self.write("secret", WEBHOOK_SECRET)
        self.write("apns.p8", private(self.apns.key))
        self.write("account.json", json.dumps({
            "project_id": PROJECT, "client_email": ACCOUNT, "private_key_id": ACCOUNT_KEY,
            "private_key": private(self.fcm.key), "token_uri": f"{self.fcm.url}/token",
        }))
        self.deliveries = 0
        self.port = 0
        self.start()

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def start(self):
        self.write("gateway.json", json.dumps({
            "port": self.port, "first_wait": 0.02, "webhook_secret_file": "secret", "jwt_secret_file": "jwt-secret",
            "apns": {"key_file": "apns.p8", "key_id": KEY, "team_id": TEAM, "topic": TOPIC, "url": self.apns.url},
            "fcm": {"service_account_file": "account.json", "url": self.fcm.url},
        }))
        environment = {**os.environ, "SSL_CERT_FILE": str(self.apns.certificate), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        self.log = open(self.directory / "log", "a")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-B", ROOT / "examples/push-gateway/gateway.py", "gateway.json"], stdout=subprocess.PIPE,
            stderr=self.log, text=True, cwd=self.directory, env=environment)
        self.url = self.process.stdout.readline().split()[-1].rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        self.kill()
        if error:
            print("    " + "\n    ".join((self.directory / "log").read_text().splitlines()[-10:]), flush=True)
        self.temporary.cleanup()

    def register(self, user, name, platform):
        status, _ = ask(self.url + f"/devices/{name}", "PUT", {"platform": platform}, user=user)
        assert status == 204, status

    def deliver(self, event, delivery=None, secret=WEBHOOK_SECRET):
        self.deliveries += 1
        delivery = delivery or f"msg_{self.deliveries}"
        now, body = datetime.datetime.now(datetime.UTC), json.dumps(event)
        return ask(self.url + "/", "POST", body.encode(), headers={
            "webhook-id": delivery, "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(secret).sign(delivery, now, body),
        })[0]

    def rows(self, table):
        with contextlib.closing(sqlite3.connect(self.directory / "gateway.db", timeout=30)) as database:
            return database.execute(f"SELECT * FROM {table}").fetchall()

    def taken(self, device):
        return [*self.apns.taken[device], *self.fcm.taken[device]]

    def is_idle(self):
        return not self.rows("queue")

    def end(self):
        """Waits until everything is sent, and checks that nothing was wrong."""
        wait(self.is_idle, "everything is sent")
        assert not self.apns.wrong + self.fcm.wrong, (self.apns.wrong + self.fcm.wrong)[:3]


def push(seq, *users, badge=1, text="Lunch?", room="lobby", **message):
    recipients = [{
        "user": user, "unread": badge, "first_unread": 1, "unread_mentions": 0, "badge": badge, "reason": "message",
    } for user in users]
    return {
        "type": "push", "room": room, "message": {"room": room, "seq": seq, "sender": "alice", "text": text, **message},
        "recipients": recipients, "collapse_id": f"{room}-{seq}", "thread_id": room, "epoch": "e",
    }


def clear(user, badge, room="lobby"):
    return {"type": "push.clear", "recipients": [{"user": user, "room": room, "badge": badge}], "epoch": "e"}


def services_are_asked_as_documented():
    with Gateway() as gateway:
        gateway.register("bob", "b0b", "apns")
        gateway.register("bob", "bob:android", "fcm")
        gateway.register("carol", "ca401", "apns")
        assert gateway.deliver(push(1, "bob", "carol", badge=3)) == 204
        texts = ["x" * 20000, "대화" * 5000, "\u0001\\\"🎉" * 3000, ""]
        for seq, text in enumerate(texts, 2):
            assert gateway.deliver(push(seq, "bob", badge=seq + 2, text=text)) == 204
        # As with --push-content none.
        bare = push(6, "bob", badge=8)
        bare["message"] = {"room": "lobby", "seq": 6}
        assert gateway.deliver(bare) == 204
        assert gateway.deliver(clear("bob", 0)) == 204
        assert gateway.deliver({"type": "test", "webhook": "phones"}) == 204
        gateway.end()
        for device in "b0b", "bob:android":
            taken = gateway.taken(device)
            assert [each["badge"] for each in taken] == [3, 4, 5, 6, 7, 8, 0], taken
            assert [each["seq"] for each in taken] == [1, 2, 3, 4, 5, 6, None]
            assert taken[0]["title"] == "alice" and taken[0]["text"] == "Lunch?"
            for text, each in zip(texts[:3], taken[1:4]):
                assert len(each["text"]) > 200 and text.startswith(each["text"][:-1]) and each["text"][-1] == "…"
            assert taken[-1]["type"] == "clear" and taken[-1]["text"] is None
        assert [each["badge"] for each in gateway.taken("ca401")] == [3]
        assert len(gateway.apns.tokens) == 1 and len(gateway.fcm.tokens) == 1, "tokens are made again for each push"


def repeats_push_once():
    with Gateway() as gateway:
        gateway.register("bob", "b0b", "apns")
        for _ in range(3):
            assert gateway.deliver(push(1, "bob", badge=2), "msg_same") == 204
        # After a crash of the server: another delivery of the same message, with the same badge and with a new one.
        assert gateway.deliver(push(1, "bob", badge=2)) == 204
        assert gateway.deliver(push(1, "bob", badge=1)) == 204
        gateway.kill()
        gateway.start()
        assert gateway.deliver(push(1, "bob", badge=1)) == 204
        gateway.end()
        assert [(each["type"], each["badge"]) for each in gateway.taken("b0b")] == [("message", 2), ("clear", 1)]


def strangers_are_refused():
    with Gateway() as gateway:
        gateway.register("bob", "b0b", "apns")
        assert gateway.deliver(push(1, "bob"), secret="whsec_" + "A" * 32) == 401
        assert ask(gateway.url + "/", "POST", push(1, "bob"), headers={})[0] == 401
        forged = jwt.encode({"sub": "bob", "exp": int(time.time()) + 60}, "another secret of thirty-two bytes", "HS256")
        for headers in {}, {"Authorization": f"Bearer {forged}"}, {"Authorization": "Bearer x"}:
            assert ask(gateway.url + "/devices/e71", "PUT", {"platform": "apns"}, headers=headers)[0] == 401
        assert ask(gateway.url + "/devices/e71", "PUT", {"platform": "pager"}, user="bob")[0] == 400
        assert ask(gateway.url + "/devices/b0b", "DELETE", user="eve")[0] == 204
        assert ask(gateway.url + "/users/bob", "DELETE", user="eve")[0] == 404
        assert [row[:2] for row in gateway.rows("devices")] == [("b0b", "bob")]
        # A device belongs to the user who signed in last.
        gateway.register("carol", "b0b", "apns")
        assert gateway.deliver(push(1, "bob")) == 204 and gateway.deliver(push(2, "carol")) == 204
        gateway.end()
        assert [each["seq"] for each in gateway.taken("b0b")] == [2]
        assert ask(gateway.url + "/devices/b0b", "DELETE", user="carol")[0] == 204
        assert ask(gateway.url + "/users/carol", "DELETE")[0] == 204
        assert not gateway.rows("devices") and [row[0] for row in gateway.rows("told")] == ["bob"]


def unregistered(detail="UNREGISTERED"):
    kind = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
    return 404, {"error": {"code": 404, "status": "NOT_FOUND", "details": [{"@type": kind, "errorCode": detail}]}}, {}


def invalid_tokens_are_forgotten():
    with Gateway() as gateway:
        answers = {
            "dead1": (410, {"reason": "Unregistered", "timestamp": int(time.time() * 1000) + 60000}, {}),
            "dead2": (400, {"reason": "BadDeviceToken"}, {}),
            "dead3": unregistered(),
        }
        gateway.apns.behave = gateway.fcm.behave = answers.get
        for name in answers:
            gateway.register("bob", name, "fcm" if name == "dead3" else "apns")
        gateway.register("bob", "b0b", "apns")
        # One that another app's message is refused for is not gone, and holds nothing up.
        gateway.register("bob", "0dd", "apns")
        answers["0dd"] = (413, {"reason": "PayloadTooLarge"}, {})
        # The app registered it again after Apple found it invalid.
        gateway.register("bob", "a11fe", "apns")
        revived = [(410, {"reason": "Unregistered", "timestamp": int(time.time() * 1000) - 60000}, {})]
        gateway.apns.behave = lambda device: revived.pop() if device == "a11fe" and revived else answers.get(device)
        for seq in 1, 2:
            assert gateway.deliver(push(seq, "bob", badge=seq)) == 204
        gateway.end()
        assert sorted(row[0] for row in gateway.rows("devices")) == ["0dd", "a11fe", "b0b"]
        for name in "b0b", "a11fe":
            assert [each["seq"] for each in gateway.taken(name)] == [1, 2]


def misbehavior_is_survived():
    with Gateway() as gateway:
        generator = random.Random(5)
        behaviors = [
            None, None, None, "close", (503, {"reason": "ServiceUnavailable"}, {}), (429, {"reason": "TooManyRequests"}, {"retry-after": "0"}),
            (500, {"reason": "InternalServerError"}, {}), (403, {"reason": "ExpiredProviderToken"}, {}),
        ]
        gateway.apns.behave = lambda device: generator.choice(behaviors)
        of_google = [*behaviors[:7], (401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}}, {}), (503, {}, {"Retry-After": "1"})]
        gateway.fcm.behave = lambda device: generator.choice(of_google)
        devices = {"a1": "apns", "a2": "apns", "f1": "fcm"}
        for name, platform in devices.items():
            gateway.register("bob", name, platform)
        for seq in range(1, 16):
            assert gateway.deliver(push(seq, "bob", badge=seq)) == 204
        gateway.end()
        for name in devices:
            assert [each["seq"] for each in gateway.taken(name)] == list(range(1, 16)), name
        # Not renewed sooner than Apple allows, although it said so.
        assert len(gateway.apns.tokens) == 1


def a_killed_gateway_loses_nothing(kills):
    """Whatever was answered with 2xx is sent, at most once more for each kill, in order."""
    with Gateway() as gateway:
        for name, platform in {"a1": "apns", "f1": "fcm"}.items():
            gateway.register("bob", name, platform)
        generator = random.Random(9)
        gateway.apns.behave = gateway.fcm.behave = lambda device: generator.choice([None, None, "close", "close after", (503, {}, {})])
        stop, accepted = threading.Event(), []

        def deliver():
            seq = 0
            while not stop.is_set():
                seq += 1
                while True:  # as the server does, under the same id
                    with contextlib.suppress(OSError):
                        if gateway.deliver(push(seq, "bob", badge=seq), f"msg_{seq}") == 204:
                            break
                    time.sleep(0.02)
                accepted.append(seq)

        thread = threading.Thread(target=deliver)
        thread.start()
        for _ in range(kills):
            seen = len(accepted)
            wait(lambda: len(accepted) > seen + 10, "deliveries are accepted")
            gateway.kill()
            gateway.start()
        stop.set()
        thread.join()
        gateway.apns.behave = gateway.fcm.behave = lambda device: None
        gateway.end()
        for name in "a1", "f1":
            seqs = [each["seq"] for each in gateway.taken(name)]
            assert sorted(set(seqs)) == accepted and seqs == sorted(seqs), (name, seqs)


@contextlib.contextmanager
def pushing_server(gateway):
    """A server with a webhook for push events to a gateway."""
    with Server(*LOOPBACK) as server:
        status, webhook = server.ask("PUT", "/v1/admin/webhooks/phones", {"url": gateway.url + "/", "events": ["push"]})
        assert status == 201, webhook
        gateway.kill()
        gateway.write("secret", webhook["secret"])
        gateway.start()
        yield server


def phones_follow_the_server(kills):
    """Messages of a real server arrive on phones, whose badges are right in the end, while the gateway is killed."""
    with Gateway() as gateway, pushing_server(gateway) as server:
        rooms = ["one", "two"]
        devices = {"b0b": ("bob", "apns"), "bob:android": ("bob", "fcm"), "ca401": ("carol", "apns")}
        for name, (user, platform) in devices.items():
            gateway.register(user, name, platform)
        for room in rooms:
            assert server.ask("PUT", f"/v1/rooms/{room}", {"title": room}, user="alice")[0] == 201
            for user in "bob", "carol":
                assert server.ask("PUT", f"/v1/rooms/{room}/members/{user}", {}, user=user)[0] == 201
        generator = random.Random(3)
        for number in range(kills + 1):
            for _ in range(20):
                room = generator.choice(rooms)
                status, message = server.ask("POST", f"/v1/rooms/{room}/messages", {"text": "Lunch?"}, user="alice")
                assert status == 201, message
                if generator.random() < 0.4:
                    assert server.ask("PUT", f"/v1/rooms/{room}/read", {"seq": message["seq"]}, user="bob")[0] == 200
            if number < kills:
                seen = sum(len(gateway.taken(name)) for name in devices)
                wait(lambda: sum(len(gateway.taken(name)) for name in devices) > seen or gateway.is_idle(), "pushes come")
                gateway.kill()
                # What is sent meanwhile waits in the server.
                assert server.ask("POST", f"/v1/rooms/{room}/messages", {"text": "Hello?"}, user="alice")[0] == 201
                gateway.start()
        server.ask("PUT", "/v1/admin/webhooks/phones", {"enabled": True})  # tries at once

        def unread(user, room):
            return server.ask("GET", f"/v1/rooms/{room}", user=user)[1]["unread"]

        def badges_are_right():
            totals = {user: sum(unread(user, room) for room in rooms) for user in ("bob", "carol")}
            return all((gateway.taken(name) or [{}])[-1].get("badge") == totals[user] for name, (user, _) in devices.items())

        for room in rooms:
            assert server.ask("POST", f"/v1/rooms/{room}/messages", {"text": "last"}, user="alice")[0] == 201
        heads = {room: server.ask("GET", f"/v1/rooms/{room}", user="alice")[1]["head"] for room in rooms}

        def told(name, room):
            return [each["seq"] for each in gateway.taken(name) if each["room"] == room and each["type"] == "message"]

        wait(lambda: all(told(name, room)[-1:] == [heads[room]] for name in devices for room in rooms), "all are told of the last messages")
        wait(badges_are_right, "all badges are right")
        for room in rooms:
            for name in devices:
                seqs = told(name, room)
                assert seqs == sorted(seqs), f"{name} was told out of order: {seqs}"
                assert len(seqs) - len(set(seqs)) <= kills, f"{name} was told again: {seqs}"
            for user in "bob", "carol":
                assert server.ask("PUT", f"/v1/rooms/{room}/read", {"seq": heads[room]}, user=user)[0] == 200
        wait(badges_are_right, "all badges are 0")
        assert all(gateway.taken(name)[-1]["badge"] == 0 for name in devices)
        gateway.end()


check("the gateway asks APNs and FCM as their documentation says", services_are_asked_as_documented)
check("a repeated delivery pushes once, also after a restart", repeats_push_once)
check("deliveries and devices of strangers are refused", strangers_are_refused)
check("invalid tokens are forgotten, others are not", invalid_tokens_are_forgotten)
check("what a service refuses for now is sent later, in order", misbehavior_is_survived)
check("a gateway that is killed loses nothing", a_killed_gateway_loses_nothing, 4)
check("phones follow a server while the gateway is killed", phones_follow_the_server, 3)
end()
