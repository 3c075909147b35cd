"""Fixtures for tests of pages in a real browser, against a real server.

The program is the release build, or what the variable BACKSCROLL names. Each server has a free port and an empty database of
its own. Pages come from another server, so their origin differs from that of Backscroll.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from axe_core_python.selenium import Axe
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BACKSCROLL = pathlib.Path(os.environ.get("BACKSCROLL") or ROOT / ".build/release/backscroll").resolve()
DEADLINE = 30  # seconds until something that should happen must have


class Server:
    """A server on a database of its own. It can be stopped and started again, on the same port or on another one."""

    def __init__(self, directory, *flags):
        self.database = directory / "backscroll.db"
        self.flags = flags
        self.port = 0
        self.process = None

    def start(self, port=None):
        """Starts it on a port, by default the one that it had last, and returns the port. 0 picks a free one."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BACKSCROLL")}
        command = [
            BACKSCROLL, "serve", "--host", "127.0.0.1", "--port", str(self.port if port is None else port), "--database",
            self.database, "--log-level", "warning", *self.flags,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        used = int(self.process.stdout.readline().rpartition(":")[2])
        if port is None:
            self.port = used
        return used

    def stop(self):
        """Stops it by SIGTERM. Does nothing if it does not run."""
        if self.process:
            self.process.terminate()
            assert self.process.wait(DEADLINE) == 0
            self.process.stdout.close()
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, port=None, **headers):
        """Returns the JSON of the answer. Fails if the server refuses the request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port or self.port}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=DEADLINE) as response:
            return json.loads(response.read() or "null")

    def send(self, text, room="lobby", user="alice", port=None):
        """Sends a message, and returns the stored one."""
        return self.request("POST", f"/v1/rooms/{room}/messages?user={user}", {"text": text}, port)

    def restore_backup(self):
        """Replaces the database by a backup of it, so that its history has a new epoch. The server must be stopped."""
        copy = self.database.with_name("copy.db")
        subprocess.run([BACKSCROLL, "backup", "--database", self.database, copy], check=True, capture_output=True)
        for suffix in "", "-wal", "-shm":
            self.database.with_name(self.database.name + suffix).unlink(missing_ok=True)
        shutil.move(copy, self.database)


class Page:
    """A page of a site in the browser, in which scripts run."""

    def __init__(self, driver, origin):
        self.driver = driver
        self.origin = origin
        driver.get(origin)

    def run(self, script, *arguments):
        """Runs a script, which may return a value."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, expression):
        """Waits until an expression is true in JavaScript, and returns its value."""
        return WebDriverWait(self.driver, DEADLINE, 0.05).until(
            lambda driver: driver.execute_script(f"return {expression}"),
            message=f"{expression} did not become true; the log is: {self.run('return window.log')}")


class BlankPage(http.server.BaseHTTPRequestHandler):
    """Answers every GET with an empty page."""

    def do_GET(self):
        content = b"<!doctype html><title>test</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """The origin of a site with empty pages, which servers allow."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), BlankPage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def driver():
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # The sandbox needs rights that containers and CI do not give. All pages are the tests' own.
    for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu":
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(DEADLINE)
    driver.set_page_load_timeout(DEADLINE)
    yield driver
    driver.quit()


@pytest.fixture
def page(driver, site):
    """A page of the site that servers allow. Its connections are closed at the end."""
    yield Page(driver, site)
    driver.get("about:blank")


@pytest.fixture(scope="session")
def ending(request):
    """Servers that end while the next tests run: a server waits two seconds for a browser to close connections that it keeps."""
    servers = []
    yield servers
    wrong = []
    for server in servers:
        try:
            status = server.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            status = "none in time"
            server.process.kill()
        if status != 0:
            wrong.append(f"{server.database}: {status}")
    if wrong:
        # This ends the run. The failure of a test would be that of the last one, which would run once more.
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print("These servers did not exit with 0:", *wrong, sep="\n", file=sys.stderr)
        pytest.exit("Servers did not exit with 0.", returncode=2)


@pytest.fixture
def start_server(tmp_path, site, ending):
    """Starts servers with the given flags, in addition to the usual ones. They are told to stop at the end."""
    servers = []

    def start(*flags, allow=site):
        directory = tmp_path / f"server{len(servers)}"
        directory.mkdir()
        server = Server(directory, *(("--allow-origin", allow) if allow else ()), *flags)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        if server.process:
            server.process.terminate()
            ending.append(server)


@pytest.fixture
def server(start_server):
    """A server in open mode."""
    return start_server()


class Tokens:
    """A server that requires tokens, and tokens for it."""

    def __init__(self, directory, start_server):
        self.secret = base64.b64encode(os.urandom(32)).decode()
        file = directory / "secret"
        file.write_text(self.secret)
        self.server = start_server("--jwt-secret-file", str(file))

    def make(self, user, seconds=600, **claims):
        """Returns a token that expires after this number of seconds. The server accepts it for 60 seconds more."""

        def encode(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=")

        claims |= {"sub": user, "exp": int(time.time()) + seconds}
        signed = b".".join(encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        return (signed + b"." + encode(hmac.digest(self.secret.encode(), signed, hashlib.sha256))).decode()


@pytest.fixture
def tokens(tmp_path, start_server):
    """A server that requires tokens, and tokens for it."""
    return Tokens(tmp_path, start_server)


def fill(server, count, room="lobby", user="bob"):
    """Sends messages of different heights, some with pictures that cannot be loaded."""
    for number in range(1, count + 1):
        body = {"text": f"Message {number}. " + "word 🎉 " * (number * 7 % 60)}
        if number % 5 == 0:
            body["attachments"] = [
                {"type": "image", "url": f"{server.url}/nothing/{number}.png", "width": 300 + number, "height": 200 + number}]
        server.request("POST", f"/v1/rooms/{room}/messages?user={user}", body)


class Chat:
    """The page in a browser of its own, as one user sees it."""

    def __init__(self, driver, server):
        self.driver = driver
        self.server = server

    def open(self, user="alice", room="lobby", at=None, wait=True):
        """Opens a room, and waits until it is live."""
        self.driver.get(f"{self.server.url}/?user={user}&room={room}" + (f"&at={at}" if at else ""))
        if wait:
            self.wait_live()
        return self

    def wait_live(self):
        self.wait("""document.querySelector('[data-timeline][data-connection=live][data-phase=idle]')""")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, expression):
        """Waits until an expression is true in JavaScript, and returns its value."""
        return WebDriverWait(self.driver, DEADLINE, 0.05).until(
            lambda driver: driver.execute_script(f"return {expression}"), message=expression)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector):
        """Clicks an element once it exists, by a script, which also works if another element covers this one."""
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        # In one step: between two the page may draw the element anew. Not in the wait: if the click leads to another page, the
        # result of the script may be lost, and the wait would click again.
        self.run("document.querySelector(arguments[0]).click()", selector)

    def wait_for(self, selector):
        """Waits until an element is drawn, and returns it."""
        self.wait(f"document.querySelector({json.dumps(selector)})?.getClientRects().length")
        return self.find(selector)

    def choose(self, row, item):
        """Opens the menu of a message by its button, and clicks an item."""
        self.click(f"{row} [data-menu]")
        self.click(f"#menu [data-menu-item={item}]")

    def wait_text(self, text):
        """Waits for a message with a text, and returns its key."""
        return self.wait(
            f"[...document.querySelectorAll('.row')].find((row) => row.querySelector('.text')?.textContent === {json.dumps(text)})"
            "?.dataset.key")

    def type(self, text):
        """Writes a message, and sends it with Enter."""
        self.find("[data-composer]").send_keys(text, Keys.ENTER)

    def texts(self, selector=".row"):
        return self.run(f"return [...document.querySelectorAll('{selector}')].map((row) => row.querySelector('.text')?.textContent)")

    def status(self, name):
        return self.find("[data-timeline]").get_attribute(f"data-{name}")

    def top(self, key):
        """Returns the distance of a row from the top of the browser's window, in CSS pixels."""
        return self.run("return document.querySelector(`[data-key='${arguments[0]}']`).getBoundingClientRect().top", key)

    def reading(self):
        """Returns the key of the first visible message."""
        return self.run(
            "const top = document.querySelector('[data-timeline]').getBoundingClientRect().top;"
            "return [...document.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().bottom > top).dataset.key")

    def violations(self):
        """The rules of axe-core that the page violates, each with the elements. What fades in has its final colour."""
        self.run("document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity).forEach((one) => one.finish())")
        found = Axe().run(self.driver)["violations"]
        return [(rule["id"], [node["html"][:200] for node in rule["nodes"]][:5]) for rule in found]

    def is_in_sight(self, selector):
        return self.run(
            "const node = document.querySelector(arguments[0]); if (!node) return false; const box = node.getBoundingClientRect();"
            "const screen = document.querySelector('[data-timeline]').getBoundingClientRect();"
            "return box.top >= screen.top - 1 && box.bottom <= screen.bottom + 1", selector)

    def scroll(self, distance):
        """Scrolls by a distance in CSS pixels."""
        self.run("document.querySelector('[data-timeline]').scrollTop += arguments[0]", distance)

    def at_bottom(self):
        return ("(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight < 2)"
                "(document.querySelector('[data-timeline]'))")

    def set_faults(self, faults):
        """Asks for these faults with each request that the page makes from now on; with None for no faults."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        headers = {"Backscroll-Fault": faults} if faults else {}
        self.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": headers})


@pytest.fixture(scope="session")
def browsers():
    """Browsers that tests share, each with its own storage. Each server is another origin, so tests do not see each other's data."""
    started = []

    def get(index):
        while len(started) <= index:
            options = webdriver.ChromeOptions()
            options.binary_location = shutil.which("chromium")
            for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1200,800":
                options.add_argument(argument)
            driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
            driver.set_script_timeout(DEADLINE)
            driver.set_page_load_timeout(DEADLINE)
            started.append(driver)
        return started[index]

    yield get
    for driver in started:
        driver.quit()


@pytest.fixture
def chats(browsers, start_server):
    """Pages of several users, on one server that offers faults."""
    server = start_server("--faults")
    opened = []

    def get(index=0):
        while len(opened) <= index:
            opened.append(Chat(browsers(len(opened)), server))
        return opened[index]

    get.server = server
    yield get
    for chat in opened:
        chat.set_faults(None)
        chat.driver.set_window_size(1200, 800)
        chat.driver.get("about:blank")


@pytest.fixture
def chat(chats):
    return chats()


class Proxy:
    """Forwards TCP connections to a server. It can stop forwarding on those that are open, without a word to either side."""

    def __init__(self, port):
        self.server_port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # The connections that are older than this one are silent.
        self.first_heard = 0
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def silence(self):
        """Forwards nothing more on the present connections, which stay open. New ones work."""
        self.first_heard = len(self.sockets)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                upstream = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                client.close()
                continue
            number = len(self.sockets)
            self.sockets.append((client, upstream))
            for source, target in (client, upstream), (upstream, client):
                threading.Thread(target=self.forward, args=(number, source, target), daemon=True).start()

    def forward(self, number, source, target):
        try:
            while data := source.recv(65536):
                if number >= self.first_heard:
                    target.sendall(data)
            if number >= self.first_heard:
                target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for sockets in [(self.listener,), *self.sockets]:
            for each in sockets:
                each.close()


@pytest.fixture
def proxy(chats):
    """A proxy in front of the server of `chats`."""
    proxy = Proxy(chats.server.port)
    yield proxy
    proxy.close()
