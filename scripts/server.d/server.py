"""A server under test, requests to it, and the report of checks."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import tempfile
import time
import traceback
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BACKSCROLL = pathlib.Path(os.environ.get("BACKSCROLL") or ROOT / ".build/release/backscroll").resolve()
SECRET = "a secret of at least thirty-two bytes"
PATIENCE = 120
LOOPBACK = "--webhook-allow", "127.0.0.1", "--webhook-allow-http"

failures = 0


def check(name, function, *arguments):
    """Reports whether a function returns without an error."""
    global failures
    try:
        function(*arguments)
        print(f"ok - {name}", flush=True)
    except Exception:
        failures += 1
        print(f"not ok - {name}", flush=True)
        print("    " + traceback.format_exc().strip().replace("\n", "\n    "), flush=True)


def end():
    """Ends the program with the result of all checks."""
    raise SystemExit(failures > 0)


def wait(condition, what):
    """Waits until a condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


def token(user, **claims):
    """A token for a user."""
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    payload = {"sub": user, "exp": int(time.time()) + 3600, **claims}
    text = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(payload).encode())
    return (text + b"." + part(hmac.new(SECRET.encode(), text, hashlib.sha256).digest())).decode()


def ask(url, method, body=None, user="root", headers=None):
    """Returns the status and the answer, decoded if it is JSON. `root` is an admin."""
    if headers is None:
        headers = {"Authorization": f"Bearer {token(user, **({'admin': True} if user == 'root' else {}))}"}
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method, headers={"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    try:
        return status, json.loads(text) if text else None
    except ValueError:
        return status, text


class Server:
    """A server whose process can be killed and started again."""

    def __init__(self, *options, database=None):
        self.directory = tempfile.TemporaryDirectory()
        self.database = database
        self.options = options
        self.port = 0
        self.start()

    def start(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BACKSCROLL")}
        environment["BACKSCROLL_JWT_SECRET"] = SECRET
        database = self.database or f"{self.directory.name}/chat.db"
        command = [BACKSCROLL, "serve", "--port", str(self.port), "--database", database, "--log-level", "error"]
        command += ["--unsafe-database"] if self.database else []
        self.process = subprocess.Popen([*command, *self.options], stdout=subprocess.PIPE, text=True, env=environment)
        self.url = self.process.stdout.readline().split()[-1].rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()

    def ask(self, method, path, body=None, user="root"):
        """Returns the status and the answer."""
        return ask(self.url + path, method, body, user)

    def state(self, webhook):
        return self.ask("GET", f"/v1/admin/webhooks/{webhook}")[1]
