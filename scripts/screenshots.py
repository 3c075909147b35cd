"""Takes the screenshots of the page; see scripts/screenshots."""

import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Browser"))

from conftest import Server  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

DEADLINE = 30  # seconds until something that should happen must have

MESSAGES = [
    ("Ben", "The pears at the north wall are ripe. 🍐"),
    ("Ben", "I can pick them on Saturday, if somebody brings boxes."),
    ("Amina", "I have six boxes. Nine o’clock?"),
    ("alice", "Nine is fine. I bring the long ladder."),
    ("alice", "Has anybody seen the key of the shed?"),
    ("Chiara", "It hangs behind the door. The plan for the beds is at https://example.com/plan"),
    ("Ben", "Thank you! Then we can plant the garlic as well."),
    ("Chiara", "Yes, and the tulips."),
]


def prepare(server):
    def request(method, path, user, body=None):
        return server.request(method, f"/v1/rooms/{path}{'&' if '?' in path else '?'}user={user}", body)

    request("PUT", "garden", "alice", {"visibility": "open", "title": "The garden"})
    for room, title, user, text in [
        ("choir", "Choir", "Dario", "Rehearsal is in the small hall today."), ("street", "Our street", "Edith", "The bakery is open again!"),
        ("chess", "Chess", "Femi", "e4?"),
    ]:
        request("PUT", room, "alice", {"visibility": "private", "title": title})
        request("PUT", f"{room}/members/{user}", "alice", {"role": "member"})
        server.send(text, room=room, user=user)
    request("PUT", "street/read", "alice", {"seq": 1})
    request("PUT", "chess/read", "alice", {"seq": 1})
    for user, text in MESSAGES:
        server.send(text, room="garden", user=user)
    request("POST", "garden/messages", "Amina", {"text": "Where shall they go?", "reply_to": 8})
    request("PUT", "garden/messages/4/reactions/%F0%9F%91%8D", "Ben")
    request("PUT", "garden/messages/4/reactions/%F0%9F%91%8D", "Chiara")
    request("PUT", "garden/messages/1/reactions/%F0%9F%8E%89", "alice")
    request("PUT", "garden/read", "alice", {"seq": 7})


def shoot(server, path, width, height, scheme):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars":
        options.add_argument(argument)
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        driver.get(f"{server.url}/?user=alice&room=garden")
        WebDriverWait(driver, DEADLINE, 0.05).until(lambda driver: driver.execute_script(
            "return document.querySelector('[data-timeline][data-connection=live][data-phase=idle]')"
            " && document.querySelector('[data-room-item=chess]') && document.querySelector('.row')"))
        driver.save_screenshot(str(ROOT / path))


with tempfile.TemporaryDirectory() as directory:
    server = Server(pathlib.Path(directory))
    server.start()
    try:
        prepare(server)
        # Keep the read mark where it is, so that all pictures show the same.
        shoot(server, "docs/page-phone.png", 390, 760, "light")
        shoot(server, "docs/page-desk.png", 1100, 700, "dark")
    finally:
        server.stop()
