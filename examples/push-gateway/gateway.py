"""A gateway for push notifications: takes push events of Backscroll's webhooks, and sends them to APNs and FCM.

    pip install httpx h2 PyJWT cryptography standardwebhooks
    python gateway.py gateway.json

docs/push.md has the file gateway.json and the commands. What a delivery causes is stored before the answer, in the transaction
that remembers the delivery, and sent from there. So a gateway that is killed loses nothing, and a repeated delivery pushes
nothing again. What was being sent when it was killed may be sent twice: it then replaces its notification.
"""

import asyncio
import contextlib
import http.server
import json
import pathlib
import sqlite3
import sys
import threading
import time
import urllib.parse
import uuid

import httpx
import jwt
from standardwebhooks import Webhook, WebhookVerificationError

DAY = 86400
MOST_BODY = 4 << 20  # bytes of a request: a delivery has at most 500 recipients and one message
MOST_PAYLOAD = 4096  # bytes, for both services
MOST_IN_FLIGHT = 64
MOST_WAIT = 600  # seconds between two attempts, unless the service asks for more
REMEMBERED = 8 * DAY  # the server repeats a delivery for five days

SCHEMA = """
CREATE TABLE IF NOT EXISTS devices (token TEXT PRIMARY KEY, user TEXT NOT NULL, platform TEXT NOT NULL, registered REAL NOT NULL);
CREATE INDEX IF NOT EXISTS devices_of_user ON devices (user);
CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS told (user TEXT, collapse_id TEXT, at REAL NOT NULL, PRIMARY KEY (user, collapse_id));
CREATE TABLE IF NOT EXISTS badges (user TEXT PRIMARY KEY, badge INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS queue (id INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL, user TEXT NOT NULL, push TEXT NOT NULL,
    stored REAL NOT NULL, due REAL NOT NULL, attempts INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS queue_of_device ON queue (token, id);
"""


@contextlib.contextmanager
def transaction(path):
    """A transaction that is on the disk when it ends, or has not happened."""
    with contextlib.closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN IMMEDIATE")
        with database:
            yield database


# Deliveries and devices.


def store(database, delivery, event):
    """Stores what a delivery causes for each device of its recipients."""
    now = time.time()
    if not database.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?)", (delivery, now)).rowcount:
        return
    if event["type"] not in ("push", "push.clear"):
        return
    for recipient in event["recipients"]:
        user, badge = recipient["user"], recipient["badge"]
        clear = {"type": "clear", "room": recipient.get("room", event.get("room")), "badge": badge}
        push = clear
        if event["type"] == "push":
            key = (user, event["collapse_id"], now)
            if database.execute("INSERT OR IGNORE INTO told VALUES (?, ?, ?)", key).rowcount:
                push = message_of(event, recipient)
            # The same message in another delivery, after a crash of the server. Only the badge may be new.
            elif (last := database.execute("SELECT badge FROM badges WHERE user = ?", (user,)).fetchone()) and last[0] == badge:
                continue
        database.execute("INSERT OR REPLACE INTO badges VALUES (?, ?)", (user, badge))
        database.execute(
            "INSERT INTO queue (token, user, push, stored, due) SELECT token, user, ?, ?, 0 FROM devices WHERE user = ?",
            (json.dumps(push), now, user))


def message_of(event, recipient):
    """What the devices of a recipient show of a message. Change the texts here."""
    message = event["message"]
    # With --push-content none there is neither a sender nor a text, and the app's notification extension fetches the message.
    return {
        "type": "message", "room": event["room"], "seq": message["seq"], "epoch": event["epoch"],
        "title": message.get("sender", "New message"), "text": message.get("text") or "Sent a message",
        "unread": recipient["unread"], "badge": recipient["badge"], "reason": recipient["reason"],
        "collapse_id": event["collapse_id"], "thread_id": event["thread_id"],
    }


class Handler(http.server.BaseHTTPRequestHandler):
    """Takes deliveries (POST), and devices of users (PUT and DELETE /devices/TOKEN, DELETE /users/USER)."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def claims(self):
        """The claims of the caller's token: here those of the chat's own tokens. Put the sessions of your app here."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise jwt.InvalidTokenError("no token")
        return jwt.decode(token, self.server.jwt_secret, ["HS256"], options={"require": ["exp", "sub"], "verify_aud": False})

    def handle_request(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MOST_BODY:
            self.close_connection = True
            return 413
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the body is not whole")
        if self.command == "POST":
            headers = {name.lower(): value for name, value in self.headers.items()}
            event = Webhook(self.server.webhook_secret).verify(body.decode(), headers)
            with transaction(self.server.database) as database:
                store(database, headers["webhook-id"], event)
            self.server.wake()
            return 204
        claims = self.claims()
        kind, _, name = self.path.strip("/").partition("/")
        name, user = urllib.parse.unquote(name), claims["sub"]
        with transaction(self.server.database) as database:
            if kind == "devices" and name and self.command == "PUT":
                platform = json.loads(body)["platform"]
                if platform not in self.server.platforms or len(name) > 4096:
                    return 400
                # A device belongs to the user who signed in last. It shows nothing more of the one before.
                database.execute("DELETE FROM queue WHERE token = ? AND user != ?", (name, user))
                database.execute("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)", (name, user, platform, time.time()))
            elif kind == "devices" and name:
                if database.execute("DELETE FROM devices WHERE token = ? AND user = ?", (name, user)).rowcount:
                    database.execute("DELETE FROM queue WHERE token = ?", (name,))
            elif kind == "users" and self.command == "DELETE" and (name == user or claims.get("admin") is True):
                for table in "devices", "queue", "told", "badges":
                    database.execute(f"DELETE FROM {table} WHERE user = ?", (name,))
            else:
                return 404
        return 204

    def answer(self):
        try:
            status = self.handle_request()
        except (WebhookVerificationError, jwt.InvalidTokenError):
            status = 401
        except ConnectionError:
            self.close_connection = True
            return
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # A delivery that is signed is not bad input: the server repeats it, and somebody must look at it.
            print(f"{self.command}: {error!r}", file=sys.stderr, flush=True)
            status = 500 if self.command == "POST" else 400
        except sqlite3.Error as error:
            print(f"the database: {error}", file=sys.stderr, flush=True)
            status = 503
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


# Notifications. A sender answers "done", "gone" (the token is invalid), or the seconds to wait at least before the next attempt.


def encode(payload, text):
    """The payload as JSON. A text that is too long is cut: `text` is the object whose `body` it is."""
    while len(data := json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()) > MOST_PAYLOAD and text["body"]:
        # A character has at most 6 bytes in JSON, so a step cuts no more than is needed.
        keep = len(text["body"]) - (len(data) - MOST_PAYLOAD) // 6 - 2
        text["body"] = text["body"][:keep] + "…" if keep > 0 else ""
    return data


def retry_after(response, otherwise=0):
    value = response.headers.get("retry-after", "")
    return int(value) if value.isdigit() else otherwise


class APNs:
    """Apple's service, with a token of the provider. `url` is that of the sandbox for apps under development."""

    def __init__(self, client, key_file, key_id, team_id, topic, url="https://api.push.apple.com"):
        self.client, self.url, self.topic = client, url, topic
        self.key, self.key_id, self.team_id = pathlib.Path(key_file).read_text(), key_id, team_id
        self.token, self.made = None, 0

    def authorization(self):
        # Apple refuses tokens older than an hour, and those that are renewed more often than every 20 minutes.
        if time.time() - self.made > 40 * 60:
            self.made = time.time()
            claims = {"iss": self.team_id, "iat": int(self.made)}
            self.token = jwt.encode(claims, self.key, "ES256", headers={"kid": self.key_id})
        return f"bearer {self.token}"

    async def send(self, device, push, job):
        headers = {
            "authorization": self.authorization(), "apns-topic": self.topic, "apns-expiration": str(int(job["stored"] + DAY)),
            # Not "background" for a badge alone: iOS sets no badge for those, and delivers a few of them an hour.
            "apns-push-type": "alert", "apns-id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{job['id']} {job['stored']}")),
        }
        alert = {"title": push.get("title", "")[:200], "body": push.get("text", "")}
        data = {name: push[name] for name in ("type", "room", "seq", "epoch", "reason") if name in push}
        if push["type"] == "message":
            headers |= {"apns-priority": "10", "apns-collapse-id": push["collapse_id"]}
            aps = {"alert": alert, "badge": push["badge"], "thread-id": push["thread_id"], "mutable-content": 1, "sound": "default"}
        else:
            headers["apns-priority"] = "5"
            # Wakes the app, which removes the notifications of the room.
            aps = {"badge": push["badge"], "content-available": 1}
        body = encode({"aps": aps, **data}, alert)
        response = await self.client.post(f"{self.url}/3/device/{urllib.parse.quote(device['token'], safe='')}", headers=headers, content=body)
        if response.status_code == 200:
            return "done"
        answer = json.loads(response.content or b"{}")
        reason = answer.get("reason")
        if response.status_code == 410:
            # The app may have got the same token again since.
            return "gone" if answer.get("timestamp", 1e15) / 1000 >= device["registered"] else 0
        if reason in ("BadDeviceToken", "DeviceTokenNotForTopic"):
            return "gone"
        if reason == "ExpiredProviderToken" and time.time() - self.made > 20 * 60:
            self.made = 0
        if response.status_code in (403, 429) or response.status_code >= 500:
            print(f"APNs: {response.status_code} {reason}", file=sys.stderr, flush=True)
            return retry_after(response)
        print(f"APNs refuses a notification: {response.status_code} {reason}", file=sys.stderr, flush=True)
        return "done"


class FCM:
    """Google's service, version 1, with a service account."""

    def __init__(self, client, service_account_file, url="https://fcm.googleapis.com"):
        self.client, self.account = client, json.loads(pathlib.Path(service_account_file).read_text())
        self.url = f"{url}/v1/projects/{self.account['project_id']}/messages:send"
        self.token, self.expires = None, 0
        self.lock = asyncio.Lock()

    async def authorization(self):
        async with self.lock:
            if time.time() > self.expires - 60:
                account, now = self.account, int(time.time())
                claims = {
                    "iss": account["client_email"], "scope": "https://www.googleapis.com/auth/firebase.messaging",
                    "aud": account["token_uri"], "iat": now, "exp": now + 3600,
                }
                assertion = jwt.encode(claims, account["private_key"], "RS256", headers={"kid": account["private_key_id"]})
                form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
                response = await self.client.post(account["token_uri"], data=form)
                response.raise_for_status()
                answer = response.json()
                self.token, self.expires = answer["access_token"], now + answer["expires_in"]
            return f"Bearer {self.token}"

    async def send(self, device, push, job):
        data = {name: str(push[name]) for name in ("type", "room", "seq", "epoch", "reason", "badge") if name in push}
        shown = {"title": push.get("title", "")[:200], "body": push.get("text", "")}
        ttl = max(0, int(job["stored"] + DAY - time.time()))
        message = {"token": device["token"], "data": data, "android": {"priority": "NORMAL", "ttl": f"{ttl}s"}}
        if push["type"] == "message":
            # One notification for each room, which the next one replaces. Launchers add up their counts.
            count = {"tag": push["thread_id"], "notification_count": push["unread"]}
            message |= {"notification": shown, "android": {"priority": "HIGH", "ttl": f"{ttl}s", "notification": count}}
        headers = {"authorization": await self.authorization(), "content-type": "application/json"}
        response = await self.client.post(self.url, headers=headers, content=encode({"message": message}, shown))
        if response.status_code == 200:
            return "done"
        try:
            codes = [detail.get("errorCode") for detail in response.json()["error"].get("details", [])]
        except (ValueError, KeyError):
            codes = []
        if "UNREGISTERED" in codes:
            return "gone"
        if response.status_code == 401:
            self.expires = 0
        print(f"FCM: {response.status_code} {codes}", file=sys.stderr, flush=True)
        if response.status_code in (401, 403, 429) or response.status_code >= 500:
            return retry_after(response, 60 if response.status_code == 429 else 0)
        return "done"


async def attempt(path, sender, job, first_wait):
    """Sends a notification, and stores what came of it."""
    try:
        outcome = await sender.send(job, json.loads(job["push"]), job)
    except Exception as error:  # whatever it was, the notification stays stored
        print(f"{job['platform']}: {error!r}", file=sys.stderr, flush=True)
        outcome = 0
    now = time.time()
    with transaction(path) as database:
        if outcome == "gone":
            # Unless the app has registered it again meanwhile.
            key = (job["token"], job["registered"])
            if database.execute("DELETE FROM devices WHERE token = ? AND registered = ?", key).rowcount:
                database.execute("DELETE FROM queue WHERE token = ?", (job["token"],))
        if outcome in ("done", "gone") or now > job["stored"] + DAY:
            database.execute("DELETE FROM queue WHERE id = ?", (job["id"],))
        else:
            due = now + max(outcome, min(MOST_WAIT, first_wait * 2 ** min(job["attempts"], 16)))
            database.execute("UPDATE queue SET due = ?, attempts = attempts + 1 WHERE id = ?", (due, job["id"]))


async def send_all(path, senders, wake, first_wait):
    """Sends what is stored, for ever: of each device one at a time, in order, so that its badge is right in the end."""
    tasks, forgotten = {}, 0
    while True:
        wake.clear()
        now = time.time()
        with transaction(path) as database:
            if now > forgotten + 3600:
                forgotten = now
                for table in "deliveries", "told":
                    database.execute(f"DELETE FROM {table} WHERE at < ?", (now - REMEMBERED,))
            jobs = database.execute(
                "SELECT * FROM queue JOIN devices USING (token) WHERE id IN (SELECT MIN(id) FROM queue GROUP BY token) AND due <= ?"
                " ORDER BY id LIMIT ?", (now, 2 * MOST_IN_FLIGHT)).fetchall()
        for job in jobs:
            if job["token"] not in tasks and job["platform"] in senders and len(tasks) < MOST_IN_FLIGHT:
                task = asyncio.create_task(attempt(path, senders[job["platform"]], job, first_wait))
                tasks[job["token"]] = task
                task.add_done_callback(lambda task, token=job["token"]: (tasks.pop(token), wake.set()))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(wake.wait(), min(1, first_wait))


async def main():
    config = json.loads(pathlib.Path(sys.argv[1]).read_text())
    path = config.get("database", "gateway.db")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(SCHEMA)
    async with httpx.AsyncClient(http2=True, timeout=30) as client:
        kinds = {"apns": APNs, "fcm": FCM}
        senders = {name: kind(client, **config[name]) for name, kind in kinds.items() if name in config}
        loop, wake = asyncio.get_running_loop(), asyncio.Event()
        server = http.server.ThreadingHTTPServer((config.get("host", "127.0.0.1"), config.get("port", 9000)), Handler)
        server.daemon_threads = True
        server.database, server.platforms = path, set(senders)
        server.webhook_secret = pathlib.Path(config["webhook_secret_file"]).read_text().strip()
        server.jwt_secret = pathlib.Path(config["jwt_secret_file"]).read_text().strip()
        server.wake = lambda: loop.call_soon_threadsafe(wake.set)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"listening on http://{server.server_address[0]}:{server.server_address[1]}/", flush=True)
        await send_all(path, senders, wake, config.get("first_wait", 1))


if __name__ == "__main__":
    asyncio.run(main())
