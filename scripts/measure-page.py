"""Measures the page; see scripts/measure-page."""

import argparse
import datetime
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Browser"))

import websocket  # noqa: E402
from conftest import BACKSCROLL, Server  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

DEADLINE = 120  # seconds until something that should happen must have
WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore 😀 🎉".split()

# Scrolls up by this many pixels per frame until a message is drawn, and returns the maximum number of nodes in the document.
SCROLL = """
const [step, seq, done] = arguments;
const scroller = document.querySelector("[data-timeline]");
let [nodes, frames] = [0, 0];
function frame() {
    if (++frames % 10 === 0) nodes = Math.max(nodes, document.getElementsByTagName("*").length);
    if (Number(document.querySelector(".row").dataset.seq) <= seq) return done({ nodes, frames });
    scroller.scrollTop -= step;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""

# Records when the first message is on the screen: at the end of the frame in which its element was added to the document.
FIRST_MESSAGE = """
new MutationObserver((_, observer) => {
    if (!document.querySelector(".row")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.firstMessage = performance.now())));
}).observe(document, { childList: true, subtree: true });
"""

WEIGHT = """
return ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
    .filter(({ name }) => !name.includes("/v1/") && new URL(name).origin === location.origin)
    .map(({ name, encodedBodySize, transferSize, responseStatus }) => ({ name, encodedBodySize, transferSize, responseStatus }));
"""


class Browser:
    """Chromium with a connection of its own for traces, which a driver cannot receive."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1200,800":
            options.add_argument(argument)
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.driver.set_script_timeout(DEADLINE)
        address = self.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        with urllib.request.urlopen(f"http://{address}/json/version") as response:
            self.socket = websocket.create_connection(json.load(response)["webSocketDebuggerUrl"], suppress_origin=True)

    def wait(self, expression):
        return WebDriverWait(self.driver, DEADLINE, 0.02).until(lambda driver: driver.execute_script(f"return {expression}"))

    def command(self, method, **parameters):
        return self.driver.execute_cdp_cmd(method, parameters)

    def trace(self, work):
        """The result of `work`, and the trace events during it."""
        categories = ["toplevel", "devtools.timeline"]
        self.socket.send(json.dumps({"id": 1, "method": "Tracing.start", "params": {
            "traceConfig": {"includedCategories": categories, "excludedCategories": ["*"], "traceBufferSizeInKb": 400_000}}}))
        while json.loads(self.socket.recv()).get("id") != 1:
            pass
        result = work()
        self.socket.send(json.dumps({"id": 2, "method": "Tracing.end"}))
        events = []
        while True:
            message = json.loads(self.socket.recv())
            if message.get("method") == "Tracing.dataCollected":
                events += message["params"]["value"]
            if message.get("method") == "Tracing.tracingComplete":
                return result, events

    def heap(self):
        """The bytes of JavaScript that are in use."""
        self.command("HeapProfiler.collectGarbage")
        return self.command("Runtime.getHeapUsage")["usedSize"]


def frame_times(events):
    """Milliseconds of processor time that the page's main thread took for each frame, including all work since the previous frame."""
    frames = [event for event in events if event["name"] == "FireAnimationFrame"]
    thread = statistics.mode((event["pid"], event["tid"]) for event in frames)
    fired = [event["ts"] for event in frames if (event["pid"], event["tid"]) == thread]
    tasks = sorted(
        (event["ts"], event["ts"] + event["dur"], event.get("tdur", 0)) for event in events
        if event["name"] == "ThreadControllerImpl::RunTask" and event["ph"] == "X" and (event["pid"], event["tid"]) == thread)
    times, spent, index = [], 0, 0
    for start, end, processor in tasks:
        spent += processor
        has_frame = False
        while index < len(fired) and fired[index] < end:
            has_frame = has_frame or fired[index] >= start
            index += 1
        if has_frame:
            times.append(spent / 1000)
            spent = 0
    return times


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def write_history(file, count):
    """A room as it grows in months: texts of all lengths, every seventeenth message a picture."""
    random.seed(1)
    time = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    for number in range(1, count + 1):
        time += datetime.timedelta(seconds=random.randint(1, 200))
        message = {"room": "long", "sender": f"user{number % 7}", "created_at": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                   "client_message_id": f"m{number}"}
        if number % 17:
            message["text"] = " ".join(random.choices(WORDS, k=random.randint(1, 40)))
        else:
            message["attachments"] = [{"type": "image", "url": f"http://127.0.0.1:9/{number}.png",
                                       "width": random.randint(200, 1600), "height": random.randint(200, 1200)}]
        file.write(json.dumps(message) + "\n")


def measure(server, count, step):
    browser = Browser()
    rows = []
    try:
        url = f"{server.url}/?user=alice&room=long&at={count}"
        browser.command("Page.addScriptToEvaluateOnNewDocument", source=FIRST_MESSAGE)

        def open_page():
            browser.driver.get(url)
            return browser.wait("window.firstMessage")

        # The first visit finds empty caches. Later visits would show stored messages, so the storage is emptied before each.
        firsts = []
        for index in range(10):
            if index:
                browser.command("Storage.clearDataForOrigin", origin=server.url, storageTypes="all")
                browser.command("Network.clearBrowserCache")
            firsts.append(open_page())
            if not index:
                files = browser.driver.execute_script(WEIGHT)
        rows.append(("first message on screen, ms: median, worst of 10", f"{statistics.median(firsts):.0f}, {max(firsts):.0f}"))
        rows.append(("page weight, compressed, KB", f"{sum(file['encodedBodySize'] for file in files) / 1000:.1f} in {len(files)} files"))
        again = open_page()
        rows.append(("first message on screen after a reload, ms", f"{again:.0f}"))

        at = count
        browser.wait(f"document.querySelector('.row[data-seq=\"{count}\"]') && document.querySelector('[data-connection=live]')")
        rows.append((f"JS heap at {int(browser.wait('document.querySelectorAll(`.row`).length'))} drawn messages, MB",
                     f"{browser.heap() / 1e6:.1f}"))
        every, nodes = [], 0
        part = max(1000, count // 10)
        while at > 1:
            at = max(1, at - part)
            result, events = browser.trace(lambda: browser.driver.execute_async_script(SCROLL, step, at))
            times = frame_times(events)
            every += times
            nodes = max(nodes, result["nodes"])
            shown = count - at + (at == 1)
            rows.append((f"{shown:,} messages scrolled past: frame p50, p95, p99, ms; JS heap, MB",
                         f"{percentile(times, 0.5):.1f}, {percentile(times, 0.95):.1f}, {percentile(times, 0.99):.1f}; {browser.heap() / 1e6:.1f}"))
            print(rows[-1], file=sys.stderr)
        rows.append((f"all {len(every):,} frames: p50, p95, p99, ms",
                     f"{percentile(every, 0.5):.1f}, {percentile(every, 0.95):.1f}, {percentile(every, 0.99):.1f}"))
        rows.append(("most DOM elements", f"{nodes:,}"))
    finally:
        browser.driver.quit()
    return rows


def main():
    parser = argparse.ArgumentParser(description="Measures the page in Chromium.")
    parser.add_argument("--messages", type=int, default=100_000, help="the room's messages")
    parser.add_argument("--step", type=int, default=800, help="pixels scrolled in each frame; the screen has 800")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(pathlib.Path(directory))
        history = pathlib.Path(directory) / "history.jsonl"
        with history.open("w") as file:
            write_history(file, arguments.messages)
        subprocess.run([BACKSCROLL, "import", "--database", server.database, history], check=True, capture_output=True)
        server.start()
        try:
            rows = measure(server, arguments.messages, arguments.step)
        finally:
            server.stop()
    print("| Figure | Value |\n|---|---:|")
    for name, value in rows:
        print(f"| {name} | {value} |")


main()
