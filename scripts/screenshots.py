"""Takes the screenshots of the page; see scripts/screenshots."""

import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Browser"))

from conftest import BACKSCROLL, Server  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

DEADLINE = 30  # seconds until something that should happen must have
TODAY = "2026-06-13"
NOW = f"{TODAY}T09:41:30Z"

# The fonts of scripts/install, whatever else is installed.
PREFERRED = "".join(f"""<match target="pattern">
    <test name="family"><string>{family}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Inter</string><string>NanumGothic</string><string>Noto Color Emoji</string></edit>
  </match>""" for family in ("system-ui", "sans-serif", "sans"))
FONTS = f"""<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include>/etc/fonts/fonts.conf</include>
  {PREFERRED}
</fontconfig>
"""
# The page's clock begins at the time of the pictures. The page is not in front of the user, so that it marks nothing as read.
CLOCK = f"""
const Real = Date;
const shift = Real.parse("{NOW}") - Real.now();
globalThis.Date = class extends Real {{
    constructor(...parts) {{ parts.length ? super(...parts) : super(Real.now() + shift); }}
    static now() {{ return Real.now() + shift; }}
}};
document.hasFocus = () => false;
"""

SKY, HILL, LEAF = "#bfe3f5", "#7fb069", "#4f8a3c"
PEAR = "<path d='M{x} {y}c-9 0-10 12-17 24-9 15-2 30 17 30s26-15 17-30c-7-12-8-24-17-24z' fill='{color}'/><path d='M{x} {y}q2-9 8-12' stroke='#6b4a2b' stroke-width='4' fill='none'/>"
TULIP = "<path d='M{x} 190V{y}' stroke='#4f8a3c' stroke-width='6'/><path d='M{x} 190q-24-12-22-46q20 12 22 46z' fill='#5f9a48'/><path d='M{left} {top}l12 14 12-18 12 18 12-14v26q0 22-24 22t-24-22z' fill='{color}'/>"
DRAWINGS = {
    "pears": f"<rect width='320' height='240' fill='{SKY}'/><path d='M0 30q160 50 320 10' stroke='#6b4a2b' stroke-width='10' fill='none'/>"
             + "".join(f"<ellipse cx='{x}' cy='{y}' rx='34' ry='14' fill='{LEAF}' transform='rotate({turn} {x} {y})'/>" for x, y, turn in [(50, 60, 20), (120, 30, -15), (190, 76, 25), (280, 60, -20), (250, 24, 10)])
             + "".join(PEAR.format(x=x, y=y, color=color) for x, y, color in [(80, 90, "#d9c94a"), (160, 120, "#c5c24b"), (236, 96, "#e0cf5a")]),
    "beds": f"<rect width='320' height='240' fill='{SKY}'/><path d='M0 110q80-50 160-12t160-20v162H0z' fill='{HILL}'/><circle cx='262' cy='48' r='24' fill='#fbe58a'/>"
            + "".join(f"<path d='M{x} 240l{w} -96h40l{v} 96z' fill='#7a5638'/>" for x, w, v in [(0, 60, -8), (112, 16, 20), (222, -36, 50)])
            + "".join(f"<circle cx='{x}' cy='{y}' r='9' fill='{LEAF}'/>" for x, y in [(52, 200), (66, 168), (150, 206), (152, 170), (252, 204), (234, 170)]),
    "tulips": "<rect width='320' height='240' fill='#f6e7d2'/><rect y='184' width='320' height='56' fill='#7a5638'/>"
              + "".join(TULIP.format(x=x, y=y, left=x - 24, top=y - 20, color=color) for x, y, color in [(50, 110, "#d94f70"), (122, 86, "#f2a33a"), (196, 104, "#b1467f"), (268, 92, "#e2603f")]),
}
FACES = {"alice": ("#f4d3b0", "#8a4b2b", "#cfe8dc"), "Ben": ("#e9bd92", "#2f2a28", "#d5dcf2"), "Amina": ("#b07a50", "#1f1a19", "#f6d9c8"), "Seoyeon": ("#f2d2b4", "#241f22", "#f5dbe6")}


def drawing(name):
    if name in DRAWINGS:
        return f"<svg xmlns='http://www.w3.org/2000/svg' width='960' height='720' viewBox='0 0 320 240'>{DRAWINGS[name]}</svg>"
    skin, hair, ground = FACES[name]
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'><rect width='64' height='64' fill='{ground}'/><path d='M8 64c0-22 48-22 48 0z' fill='{hair}' opacity='.7'/>"
            f"<circle cx='32' cy='27' r='16' fill='{hair}'/><circle cx='32' cy='30' r='12' fill='{skin}'/></svg>")


class Drawings(http.server.BaseHTTPRequestHandler):
    """Answers with the drawing that the path names."""

    def do_GET(self):
        content = drawing(self.path[1:]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


# The times in UTC, the senders, and the texts or what else the messages have.
MESSAGES = [
    ("06:52", "Ben", "Good morning! The pears at the north wall are ripe 🍐"),
    ("06:52", "Ben", {"pictures": ["pears"]}),
    ("06:58", "Seoyeon", "와, 벌써 익었네요! 토요일에 같이 딸까요?"),
    ("07:03", "Amina", "I have **six** boxes and a ladder. Nine o’clock?"),
    ("07:15", "alice", "Nine is fine"),
    ("07:15", "alice", "I bring coffee for everybody, and the long ladder, which is lighter than yours."),
    ("07:21", "Seoyeon", "👍🎉"),
    ("08:34", "Ben", {"text": "To do before the rain:\n- pick the pears\n- plant the _tulips_\n- `water: off`", "reply_to": 4}),
    ("08:36", "Amina", {"pictures": ["beds", "tulips"], "text": "The beds now, and in April"}),
    ("09:12", "alice", "Has anybody seen the key of the shed?"),
    ("09:38", "Seoyeon", "문 뒤에 걸려 있어요 🔑"),
    ("09:40", "Ben", "Then see you there"),
]
ROOMS = [
    ("choir", "Choir", "Dario", "09:31", "Rehearsal is in the small hall today."), ("street", "Our street", "Edith", "08:05", "The bakery is open again! 🥐"),
    ("hiking", "등산 모임", "Seoyeon", "06:20", "일요일 북한산 어때요?"), ("chess", "Chess", "Femi", "05:47", "e4?"),
]
NAMES = {"alice": "Alice", "Seoyeon": "김서연"}


def message(room, time, sender, content, pictures):
    line = {"room": room, "sender": sender, "created_at": f"{TODAY}T{time}:00Z"}
    if isinstance(content, str):
        return line | {"text": content}
    attachments = [{"type": "image", "url": f"{pictures}/{name}", "width": 960, "height": 720, "title": name} for name in content.get("pictures", [])]
    return line | {name: value for name, value in content.items() if name != "pictures"} | ({"attachments": attachments} if attachments else {})


def prepare(server, pictures):
    lines = [message("garden", *each, pictures) for each in MESSAGES]
    lines += [message(room, time, user, text, pictures) for room, _, user, time, text in ROOMS]
    server.start()

    def request(method, path, user, body=None):
        return server.request(method, f"/v1/{path}?user={user}", body)

    for user in sorted({line["sender"] for line in lines}):
        picture = {"avatar": f"{pictures}/{user}"} if user in FACES else {}
        request("PUT", f"profiles/{user}", user, {"name": NAMES.get(user, user)} | picture)
    for room, title, users in [("garden", "The garden", ["Ben", "Amina", "Seoyeon"]), *((room, title, [user]) for room, title, user, *_ in ROOMS)]:
        request("PUT", f"rooms/{room}", "alice", {"visibility": "private", "title": title})
        for user in users:
            request("PUT", f"rooms/{room}/members/{user}", "alice", {"role": "member"})
    server.stop()
    subprocess.run([BACKSCROLL, "import", "--database", server.database, "-"], input="\n".join(map(json.dumps, lines)), text=True, check=True,
                   capture_output=True)
    server.start()
    for seq, key, users in [(2, "😍", ["alice", "Amina", "Seoyeon"]), (2, "🍐", ["alice"]), (4, "👍", ["Ben", "alice"]), (6, "☕", ["Ben", "Amina", "Seoyeon"]), (9, "🌷", ["alice"])]:
        for user in users:
            request("PUT", f"rooms/garden/messages/{seq}/reactions/{urllib.parse.quote(key)}", user)
    for user, seq in ("Ben", 12), ("Amina", 10), ("Seoyeon", 12), ("alice", 10):
        request("PUT", "rooms/garden/read", user, {"seq": seq})
    for room in "street", "chess":
        request("PUT", f"rooms/{room}/read", "alice", {"seq": 1})


def shoot(server, path, width, height, scheme):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars":
        options.add_argument(argument)
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLOCK})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        driver.get(f"{server.url}/?user=alice&room=garden")
        WebDriverWait(driver, DEADLINE, 0.05).until(lambda driver: driver.execute_script(
            "return document.querySelector('[data-timeline][data-connection=live][data-phase=idle]')"
            " && document.querySelector('[data-room-item=chess]') && document.querySelector('.row')"
            " && [...document.images].every((image) => image.loading === 'lazy' ? image.complete || !image.checkVisibility() : image.complete)"
            " && document.querySelector('.theirs .avatar img') && document.querySelector('[data-tick=read_by_all]')"))
        driver.save_screenshot(str(ROOT / path))


with tempfile.TemporaryDirectory() as directory, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Drawings) as pictures:
    threading.Thread(target=pictures.serve_forever, daemon=True).start()
    fonts = pathlib.Path(directory) / "fonts.conf"
    fonts.write_text(FONTS)
    os.environ["FONTCONFIG_FILE"] = str(fonts)
    server = Server(pathlib.Path(directory))
    try:
        prepare(server, f"http://127.0.0.1:{pictures.server_port}")
        shoot(server, "docs/page-phone.png", 390, 760, "light")
        shoot(server, "docs/page-desk.png", 1100, 700, "dark")
    finally:
        server.stop()
        pictures.shutdown()
