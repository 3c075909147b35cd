"""The chat page at `/`, used as by a reader, against a real server. Some tests ask the server for faults."""

import datetime
import http.server
import json
import struct
import subprocess
import threading
import urllib.parse
import zlib

import pytest
from conftest import BACKSCROLL, DEADLINE, Chat, fill
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

LIKE = "❤️"


class Pictures(http.server.BaseHTTPRequestHandler):
    """Serves a picture of six by two pixels as `wide.png`, and once it is released also as `late.png`. All else is not found."""

    def do_GET(self):
        if self.path == "/late.png":
            self.server.released.wait(DEADLINE)
        name = self.path[1:]
        content = png(6, 2) if name in ("wide.png", "late.png") else b""
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def png(width, height):
    """Returns a black picture."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress((b"\0" * (width + 1)) * height)) + chunk(b"IEND", b""))


@pytest.fixture
def pictures():
    """A site with pictures."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as server:
        server.released = threading.Event()
        server.release = server.released.set
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.release()
        server.shutdown()


# Opening


def test_room_opens_at_the_first_unread_message(chats):
    chat = chats()
    fill(chats.server, 100)
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 40})
    chat.open()
    assert chat.is_in_sight("[data-key=unread]")
    assert chat.run("return document.querySelector('[data-key=unread]').nextElementSibling.dataset.seq") == "41"
    assert 50 <= int(chat.status("unread")) <= 60
    # Scrolling up reaches the beginning, and the button the end.
    chat.wait("(document.querySelector('[data-timeline]').scrollTop = 0, document.querySelector('.row[data-seq=\"1\"]'))")
    assert chat.status("before") == "end"
    chat.click("[data-to-latest]")
    chat.wait_for('.row[data-seq="100"]')
    chat.wait("document.querySelector('[data-timeline]').dataset.after === 'end'")


def test_url_opens_a_message(chats):
    fill(chats.server, 100)
    chat = chats().open(at=51)
    assert chat.is_in_sight('.row[data-seq="51"]')


def test_first_messages_are_asked_for_once_and_before_anything_else(chats):
    fill(chats.server, 100)
    chat = chats().open(at=51)
    chat.wait("document.querySelector('[data-room-item=lobby]')")
    requests = chat.run(
        "return performance.getEntriesByType('resource').map(({name}) => new URL(name)).filter(({pathname}) => pathname.startsWith('/v1/'))"
        ".map(({pathname, search}) => pathname + search)")
    assert requests[0].startswith("/v1/rooms/lobby/messages?around=51")
    assert sum("around=51" in request for request in requests) == 1
    assert any(request.startswith("/v1/rooms?") for request in requests)


def test_url_opens_a_tall_message(chats):
    server = chats.server
    fill(server, 20)
    tall = server.send("line\n" * 16, user="bob")["seq"]
    higher_than_the_screen = server.send("line\n" * 100, user="bob")["seq"]
    fill(server, 20)
    chat = chats().open(at=tall)
    assert chat.is_in_sight(f".row[data-seq='{tall}']")
    chat.open(at=higher_than_the_screen)
    assert abs(chat.top(higher_than_the_screen) - chat.run(
        "return document.querySelector('[data-timeline]').getBoundingClientRect().top")) < 2


# Keeping the place

# Scrolls by `step` pixels in each of `count` frames, or to the end of the room. Returns the rows that moved by another distance (`jumps`),
# the maximum number of elements in the document (`most`), and how often the window was cut (`cuts`).
SCROLL = """
const [step, count, done] = arguments;
const scroller = document.querySelector("[data-timeline]");
const jumps = [];
const seqs = new Set();
let [cuts, height] = [0, 0];
let tracked = null;
function pick() {
    const top = scroller.getBoundingClientRect().top;
    for (const row of document.querySelectorAll(".row")) {
        const box = row.getBoundingClientRect();
        if (box.top > top + 60) return { key: row.dataset.key, top: box.top, at: scroller.scrollTop };
    }
}
let left = count;
let most = 0;
function frame() {
    if (tracked) {
        const row = document.querySelector(`[data-key="${CSS.escape(tracked.key)}"]`);
        if (row) {
            const jump = row.getBoundingClientRect().top - tracked.top + tracked.asked;
            if (Math.abs(jump) >= 1) jumps.push([tracked.key, jump]);
        } else {
            jumps.push([tracked.key, "gone"]);
        }
    }
    most = Math.max(most, document.querySelectorAll("*").length);
    for (const { dataset } of document.querySelectorAll(".row[data-seq]")) seqs.add(Number(dataset.seq));
    if (scroller.scrollHeight < height - 10_000) cuts++;
    height = scroller.scrollHeight;
    const isAtEnd = step < 0 ? scroller.dataset.before === "end" && scroller.scrollTop === 0
        : scroller.dataset.after === "end" && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2;
    if (left-- === 0 || isAtEnd) return done({ jumps, most, isAtEnd, cuts, seqs: [...seqs] });
    tracked = pick();
    const before = scroller.scrollTop;
    scroller.scrollTop += step;
    if (tracked) tracked.asked = scroller.scrollTop - before;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


def test_reading_stays_in_place_while_older_messages_load(chats):
    fill(chats.server, 150)
    chat = chats().open(at=140)
    result = chat.driver.execute_async_script(SCROLL, -120, 400)
    assert result["jumps"] == []
    assert chat.status("before") == "end"
    # Five pages are enough: a page that arrives does not cause further fetches.
    fetches = chat.run("return performance.getEntriesByType('resource').filter(({name}) => /messages\\?before/.test(name)).length")
    assert fetches <= 5
    # Rows far from the screen are not in the document.
    assert result["most"] < 2500


# Scrolls to an end of the loaded messages, by 600 pixels in each of twenty frames. Returns the first visible message, and its place.
TO_EDGE = """
const [direction, done] = arguments;
const scroller = document.querySelector("[data-timeline]");
let left = 20;
function frame() {
    scroller.scrollTop += direction * 600;
    if (left-- > 0) return requestAnimationFrame(frame);
    const top = scroller.getBoundingClientRect().top;
    const row = [...document.querySelectorAll(".row")].find((row) => row.getBoundingClientRect().bottom > top);
    done([row.dataset.key, row.getBoundingClientRect().top]);
}
requestAnimationFrame(frame);
"""


def test_reader_at_the_top_stays_in_place_when_its_page_comes(chats):
    import_history(chats.server, 400, pictures_each=5)
    chat = chats().open(at=300)
    for _ in range(3):
        chat.wait("document.querySelector('[data-timeline][data-before=idle]')")
        chat.set_faults("delay=1500")
        # In rows that were not drawn yet.
        key, top = chat.driver.execute_async_script("""
            const done = arguments[0];
            const scroller = document.querySelector("[data-timeline]");
            scroller.scrollTop = 0;
            let left = 10;
            requestAnimationFrame(function frame() {
                if (left-- > 0) return requestAnimationFrame(frame);
                const top = scroller.getBoundingClientRect().top;
                const row = [...document.querySelectorAll(".row")].find((row) => row.getBoundingClientRect().bottom > top);
                done([row.dataset.key, row.getBoundingClientRect().top]);
            });
        """)
        assert chat.status("before") == "loading"
        chat.wait("document.querySelector('[data-timeline]:is([data-before=idle], [data-before=end])')")
        chat.set_faults(None)
        chat.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        assert abs(chat.top(key) - top) < 1


@pytest.mark.parametrize("edge", ["before", "after"])
def test_reader_at_an_edge_stays_in_place_when_its_page_comes(chats, edge):
    count = 400
    import_history(chats.server, count, pictures_each=5)
    chat = chats().open(at=200)
    for _ in range(3):
        chat.wait("document.querySelector('[data-timeline][data-before=idle][data-after=idle]')")
        # Pages come after the reader has reached the edge.
        chat.set_faults("delay=1500")
        key, top = chat.driver.execute_async_script(TO_EDGE, -1 if edge == "before" else 1)
        assert chat.status(edge) == "loading"
        chat.wait(f"document.querySelector('[data-timeline][data-{edge}=idle]')")
        chat.set_faults(None)
        chat.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        assert abs(chat.top(key) - top) < 1


def import_history(server, count, room="lobby", pictures_each=0):
    """Imports many messages into a room while the server is stopped, and starts it again. Pictures cannot be loaded."""
    server.stop()
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

    def message(number):
        content = {"text": f"Message {number}. " + "word " * (number * 7 % 50)}
        if pictures_each and number % pictures_each == 0:
            content["attachments"] = [{
                "type": "image", "url": f"{server.url}/nothing/{number}.png", "width": 300 + number % 70, "height": 100 + number % 90}]
        return {"room": room, "sender": f"user{number % 3}", "created_at": (start + datetime.timedelta(minutes=number)).isoformat(),
                "client_message_id": f"m{number}", **content}

    lines = [json.dumps(message(number)) for number in range(1, count + 1)]
    subprocess.run([BACKSCROLL, "import", "--database", server.database, "-"], input="\n".join(lines), text=True, check=True,
                   capture_output=True)
    server.start()


# Scrolls up to a message, by `step` pixels in each frame. Returns the maximum number of rows that a frame added to the document (`most`),
# and of elements in it.
READ_ALL = """
const [step, seq, done] = arguments;
const scroller = document.querySelector("[data-timeline]");
let [made, most, elements, frames] = [0, 0, 0, 0];
new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) made += node.nodeType === Node.ELEMENT_NODE ? 1 : 0;
}).observe(document.querySelector("#messages"), { childList: true });
function frame() {
    most = Math.max(most, made);
    made = 0;
    elements = Math.max(elements, document.getElementsByTagName("*").length);
    frames++;
    if (Number(document.querySelector(".row").dataset.seq) <= seq) return done({ most, elements, frames });
    scroller.scrollTop -= step;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


# Stays at one end of the loaded messages until a message is drawn.
LOAD_TO = """
const [edge, seq, done] = arguments;
const scroller = document.querySelector("[data-timeline]");
function frame() {
    const rows = document.querySelectorAll(".row[data-seq]");
    if (edge === "before" ? Number(rows[0].dataset.seq) <= seq : Number(rows[rows.length - 1].dataset.seq) >= seq) return done();
    scroller.scrollTop = edge === "before" ? 0 : scroller.scrollHeight;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


def load_to(chat, edge, first, last):
    """Loads all messages from one to another, in parts that take less time than a script may."""
    for seq in (*range(first, last, -200 if edge == "before" else 200), last):
        chat.driver.execute_async_script(LOAD_TO, edge, seq)


def scroll_to_cut(chat, step):
    """Scrolls by `step` pixels in each frame until the window is cut at the other end. Returns the messages that have moved by other distances."""
    # The edge must be out of sight, so that pages are loaded before the reader reaches it.
    chat.wait(f"""(({{scrollHeight, scrollTop, clientHeight}}) =>
        ({step} < 0 ? scrollTop : scrollHeight - scrollTop - clientHeight) > 1.5 * clientHeight
    )(document.querySelector('[data-timeline]'))""")
    jumps = []
    for _ in range(100):
        result = chat.driver.execute_async_script(SCROLL, step, 60)
        jumps += result["jumps"]
        assert not result["isAtEnd"]
        if result["cuts"]:
            return jumps
    raise AssertionError("The window is not cut.")


def test_reading_stays_in_place_while_far_messages_leave_the_window(chats):
    count = 3000
    import_history(chats.server, count, pictures_each=5)
    chat = chats().open(at=count)
    load_to(chat, "before", count, count - 1800)
    assert chat.status("after") == "end"
    assert scroll_to_cut(chat, -60) == []
    assert chat.status("after") == "idle"
    # The window has 1,500 messages now. On the way back to the newest ones it loses the oldest.
    # Not further: a busy machine may load some pages more, and the window must lose messages after that.
    load_to(chat, "after", count - 700, count - 600)
    assert scroll_to_cut(chat, 60) == []
    assert chat.status("before") == "idle"
    chat.click("[data-to-latest]")
    chat.wait(chat.at_bottom())
    key = str(chats.server.send("the newest", user="bob")["seq"])
    chat.wait_text("the newest")
    assert chat.is_in_sight(f"[data-key='{key}']")


# The window of a room in IndexedDB, as the page restores it.
KEPT = """new Promise((done) => {
    const request = indexedDB.open("backscroll");
    request.onsuccess = () => {
        const key = `backscroll/${encodeURIComponent(location.origin)}/alice/window/${arguments[0]}`;
        const kept = request.result.transaction("values").objectStore("values").get(key);
        kept.onsuccess = () => { request.result.close(); done(kept.result); };
    };
})"""


def test_room_is_kept_with_its_newest_messages_after_scrolling_far_back(chats):
    count, server = 2300, chats.server
    import_history(server, count)
    server.request("PUT", "/v1/rooms/two?user=alice", {"visibility": "open"})
    server.send("Elsewhere", room="two")
    chat = chats().open(at=count)
    chat.wait_for("[data-room-item=two]")

    def wait_kept(room):
        return WebDriverWait(chat.driver, DEADLINE, 0.05).until(lambda driver: driver.execute_script(f"return {KEPT}", room))

    wait_kept("lobby")
    load_to(chat, "before", count, 1)
    assert chat.status("after") == "idle"
    # A room is stored when the reader leaves it. The next room is stored after that.
    chat.click("[data-room-item=two] a")
    wait_kept("two")
    kept = wait_kept("lobby")
    assert (kept["messages"][-1]["seq"], kept["has_after"]) == (count, False)


def test_long_room_is_scrolled_through_with_bounded_work(chats):
    count = 1900
    import_history(chats.server, count)
    chat = chats().open(at=count)
    result = chat.driver.execute_async_script(READ_ALL, 400, 1)
    # A step brings some five rows into view. A frame creates those, and a few more.
    assert result["most"] <= 20
    assert result["elements"] < 1500
    fetches = chat.run("return performance.getEntriesByType('resource').filter(({name}) => /messages\\?before/.test(name)).length")
    assert fetches <= count / 30
    # The scroll bar leads to a place where no row was drawn, and the button leads back.
    chat.scroll(-100_000)
    chat.wait("document.querySelector('.row[data-seq=\"1\"]')?.getBoundingClientRect().top > 0")
    middle = chat.run("const s = document.querySelector('[data-timeline]'); s.scrollTop = s.scrollHeight / 2; return s.scrollTop")
    seen = "Number([...document.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().bottom > 200)?.dataset.seq)"
    chat.wait(f"Math.abs({seen} - {count / 2}) < {count / 10}")
    assert middle > 10_000
    chat.click("[data-to-latest]")
    chat.wait(chat.at_bottom())
    assert chat.is_in_sight(f".row[data-seq='{count}']")


def count_kept_messages(chat):
    """Returns the number of messages in the page's memory, after garbage collection."""
    command = chat.driver.execute_cdp_cmd
    shape = command("Runtime.evaluate", {"expression": "Object.prototype"})["result"]["objectId"]
    objects = command("Runtime.queryObjects", {"prototypeObjectId": shape, "objectGroup": "kept"})["objects"]["objectId"]
    count = command("Runtime.callFunctionOn", {
        "objectId": objects, "returnByValue": True,
        "functionDeclaration": "function() { return this.filter((it) => Object.hasOwn(it, 'created_at') && Object.hasOwn(it, 'seq')).length; }"})
    command("Runtime.releaseObjectGroup", {"objectGroup": "kept"})
    return count["result"]["value"]


def test_messages_that_leave_the_window_leave_the_memory(chats):
    count = 4500
    import_history(chats.server, count)
    chat = chats().open(at=count)
    load_to(chat, "before", count, 1)
    chat.wait("document.querySelector('[data-timeline][data-before=end]')")
    # The window has at most 2,000. The store may be writing 500 others.
    assert 1000 < count_kept_messages(chat) <= 2600


def test_actions_are_shown_when_fast_scrolling_ends(chats):
    count = 1000
    import_history(chats.server, count)
    chat = chats().open(at=count)
    shown = "document.querySelector('.row .actions').getClientRects().length"
    assert chat.run(f"return {shown}")
    hidden = chat.driver.execute_async_script(f"""
        const [done] = arguments;
        const scroller = document.querySelector("[data-timeline]");
        let frames = 0;
        requestAnimationFrame(function scroll() {{
            if (frames > 2 && {shown} === 0) return done(true);
            if (++frames > 100) return done(false);
            scroller.scrollTop -= 800;
            requestAnimationFrame(scroll);
        }});
    """)
    assert hidden
    chat.wait(shown)


@pytest.mark.parametrize("change", ["narrow", "low", "zoom"])
def test_reading_stays_in_place_in_a_changed_window(chats, change):
    fill(chats.server, 60)
    chat = chats().open(at=30)
    # Two frames, so that the list has been drawn completely.
    chat.scroll(-35)
    chat.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    key = chat.reading()
    before = chat.top(key)
    if change == "narrow":
        chat.driver.set_window_size(800, 800)
        chat.wait("innerWidth <= 800")
    elif change == "low":
        chat.driver.set_window_size(1200, 500)
        chat.wait("innerHeight <= 500")
    else:
        chat.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 800, "height": 533, "deviceScaleFactor": 1.5, "mobile": False})
        chat.wait("innerWidth === 800")
    try:
        chat.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        assert abs(chat.top(key) - before) < 1
    finally:
        chat.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# Following


def test_live_messages_are_followed_at_the_bottom_and_counted_elsewhere(chats):
    fill(chats.server, 60)
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 60})
    chat = chats().open()
    chat.wait(chat.at_bottom())
    chats.server.send("Followed", user="bob")
    chat.wait_text("Followed")
    chat.wait(chat.at_bottom())
    assert not chat.find("[data-toast]").is_displayed()

    chat.scroll(-900)
    chat.wait("!document.querySelector('[data-to-latest]').hidden")
    key = chat.reading()
    before = chat.top(key)
    chats.server.send("First", user="bob")
    chats.server.send("Second", user="carol")
    toast = chat.wait_for("[data-toast][data-count='2']")
    # While it fades in, its property `text` is empty.
    said = toast.get_property("textContent")
    assert "Second" in said and "carol" in said
    assert abs(chat.top(key) - before) < 1
    assert chat.status("unread") == "2"
    assert chat.find("[data-to-latest]").text.strip().endswith("2")

    chat.click("[data-to-latest]")
    chat.wait(chat.at_bottom())
    chat.wait("document.querySelector('[data-toast]').hidden")
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")


# Sending


def test_own_messages_appear_at_once_in_order_and_once(chats):
    chat = chats().open()
    texts = [f"Number {number}" for number in range(8)]
    for text in texts:
        chat.type(text)
    assert chat.texts() == texts
    chat.wait("document.querySelectorAll('.row[data-state=stored]').length === 8")
    assert chat.texts() == texts
    page = chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")
    assert [message["text"] for message in page["messages"]] == texts


@pytest.mark.parametrize("fault", ["lost-answer", "late-answer=1500", "status=503", "delay=1500", "double-push"])
def test_own_message_is_stored_once(chats, fault):
    chat = chats().open()
    chat.set_faults(fault)
    chat.type("Once")
    chat.wait("document.querySelector('.row')")
    key = chat.find(".row").get_attribute("data-key")
    if fault == "status=503":
        chat.wait_for(".row[data-state=queued]")
    chat.set_faults(None)
    chat.wait("document.querySelector('.row[data-state=stored]')")
    assert chat.texts() == ["Once"]
    assert chat.find(".row").get_attribute("data-key") == key
    assert len(chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")["messages"]) == 1


def test_failed_message_can_be_sent_again_or_discarded(chats):
    server = chats.server
    server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat = chats().open()
    # The server refuses a lone surrogate of UTF-16.
    for _ in range(2):
        chat.run("document.querySelector('[data-composer]').value = 'half '.concat(String.fromCharCode(0xd83d))")
        chat.find("[data-composer]").send_keys(Keys.ENTER)
    chat.wait("document.querySelectorAll('.row[data-state=failed]').length === 2")
    chat.click("[data-discard]")
    chat.wait("document.querySelectorAll('.row').length === 1")
    chat.click("[data-retry]")
    chat.wait_for(".row[data-state=failed] [data-retry]")


def test_messages_written_offline_survive_a_reload_and_go_out_in_order(chats):
    chat = chats().open()
    chat.type("Before")
    chat.wait("document.querySelector('.row[data-state=stored]')")
    chat.wait("navigator.serviceWorker.ready.then((worker) => worker.active.state === 'activated')")
    # The window is stored some time after it is shown.
    chat.wait("""new Promise((done) => {
        const request = indexedDB.open("backscroll");
        request.onsuccess = () => {
            const all = request.result.transaction("values").objectStore("values").getAll();
            all.onsuccess = () => { request.result.close(); done(all.result.some(({ messages }) => messages?.length === 1)); };
        };
    })""")
    chats.server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    texts = ["One", "Two", "Three"]
    for text in texts:
        chat.type(text)
    chat.wait("document.querySelectorAll('.row').length === 4")
    chat.open(wait=False)
    chat.wait("document.querySelectorAll('.row').length === 4")
    assert chat.texts() == ["Before", *texts]
    assert chat.status("connection") == "offline"
    chats.server.start()
    chat.wait("document.querySelectorAll('.row[data-state=stored]').length === 4")
    page = chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")
    assert [message["text"] for message in page["messages"]] == ["Before", *texts]


def test_messages_written_in_another_room_go_out_in_order(chats):
    server = chats.server
    for room in "one", "two":
        server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open"})
    chat = chats().open(room="one")
    chat.wait_for("[data-room-item=two]")
    server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    for text in "First", "Second":
        chat.type(text)
    chat.wait("document.querySelectorAll('.row').length === 2")
    chat.click("[data-room-item=two] a")
    chat.wait("document.querySelector('#room-title').textContent === 'two'")
    server.start()
    chat.wait("document.querySelector('[data-room-item=one]').textContent.includes('You: Second')")
    page = server.request("GET", "/v1/rooms/one/messages?user=bob")
    assert [message["text"] for message in page["messages"]] == ["First", "Second"]
    assert "room=two" in chat.driver.current_url
    chat.click("[data-room-item=one] a")
    chat.wait("document.querySelectorAll('.row[data-state=stored]').length === 2")
    assert chat.texts() == ["First", "Second"]


def test_order_of_unsent_messages_is_that_of_writing(chats):
    chat = chats().open()
    chats.server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    # Two in a millisecond, then the clock is set back.
    chat.run("const now = Date.now(); Date.now = () => now")
    texts = [f"Number {number}" for number in range(8)]
    for text in texts[:4]:
        chat.type(text)
    chat.run("const now = Date.now(); Date.now = () => now - 3_600_000")
    for text in texts[4:]:
        chat.type(text)
    chat.wait("document.querySelectorAll('.row').length === 8")
    chats.server.start()
    chats.server.request("PUT", "/v1/rooms/other?user=alice", {"visibility": "open"})
    chat.open(wait=False)
    chat.wait("document.querySelectorAll('.row[data-state=stored]').length === 8")
    page = chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")
    assert [message["text"] for message in page["messages"]] == texts


def test_send_is_repeated_after_the_time_that_the_server_asks_for(chats):
    chat = chats().open()
    chat.set_faults("status=503:1")
    chat.type("Repeated")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    first, second = chat.run(
        "return performance.getEntriesByType('resource').filter(({ name, initiatorType }) => initiatorType === 'fetch' && /lobby\\/messages\\?user/.test(name))"
        ".map(({ startTime, responseEnd }) => [startTime, responseEnd]).slice(-2)")
    assert second[0] - first[1] >= 990


def write(chat, text):
    """Writes a text without sending it."""
    chat.find("[data-composer]").send_keys(text)


def test_what_is_written_stays_in_its_room(chats):
    for room in "one", "two":
        chats.server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open"})
    chat = chats().open(room="one")
    write(chat, "Half a thought")
    chat.wait_for("[data-room-item=two]")
    chat.click("[data-room-item=two] a")
    chat.wait("document.querySelector('#room-title').textContent === 'two'")
    assert chat.find("[data-composer]").get_attribute("value") == ""
    chat.driver.back()
    chat.wait("document.querySelector('#room-title').textContent === 'one'")
    assert chat.find("[data-composer]").get_attribute("value") == "Half a thought"
    chat.type(", finished")
    chat.wait_text("Half a thought, finished")
    chat.open(room="one")
    assert chat.find("[data-composer]").get_attribute("value") == ""


@pytest.mark.parametrize("way", ["paste", "drop"])
def test_picture_is_sent_by_its_address(chats, pictures, way):
    chat = chats().open()
    url = f"{pictures.url}/wide.png"
    chat.run("""
        const data = new DataTransfer();
        data.setData("text/plain", arguments[0]);
        const options = { bubbles: true, cancelable: true };
        const event = arguments[1] === "paste"
            ? new ClipboardEvent("paste", { ...options, clipboardData: data }) : new DragEvent("drop", { ...options, dataTransfer: data });
        document.querySelector("[data-composer]").dispatchEvent(event);
    """, url, way)
    chat.wait("document.querySelector('#context-text').textContent.includes('wide.png')")
    chat.type("Look")
    image = chat.wait_for(".row[data-state=stored] img")
    assert (image.get_dom_attribute("width"), image.get_dom_attribute("height")) == ("6", "2")
    [message] = chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")["messages"]
    assert message["text"] == "Look"
    assert message["attachments"] == [{"type": "image", "url": url, "width": 6, "height": 2}]


def test_address_that_is_no_picture_stays_text(chats, pictures):
    chat = chats().open()
    chat.run("""
        const data = new DataTransfer();
        data.setData("text/plain", arguments[0]);
        document.querySelector("[data-composer]").dispatchEvent(
            new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
    """, f"{pictures.url}/nothing.png")
    chat.wait("document.querySelector('#context .error')")
    assert chat.find("[data-composer]").get_attribute("value") == f"{pictures.url}/nothing.png"


def give(chat, way, text="", file=False, selector="[data-composer]"):
    """Pastes or drops a text or a file."""
    chat.run("""
        const [way, text, file, selector] = arguments;
        const data = new DataTransfer();
        if (text) data.setData("text/plain", text);
        if (file) data.items.add(new File(["x"], "picture.png", { type: "image/png" }));
        const options = { bubbles: true, cancelable: true };
        const event = way === "paste"
            ? new ClipboardEvent("paste", { ...options, clipboardData: data }) : new DragEvent("drop", { ...options, dataTransfer: data });
        document.querySelector(selector).dispatchEvent(event);
        return event.defaultPrevented;
    """, way, text, file, selector)


@pytest.mark.parametrize("selector", ["[data-composer]", "#messages"])
def test_dropped_text_is_inserted(chats, selector):
    chat = chats().open()
    chat.find("[data-composer]").send_keys("Before ")
    give(chat, "drop", "dropped", selector=selector)
    assert chat.find("[data-composer]").get_attribute("value") in ("Before dropped", "droppedBefore ")


@pytest.mark.parametrize("way", ["paste", "drop"])
def test_file_is_refused_with_the_reason(chats, way):
    chat = chats().open()
    give(chat, way, file=True)
    assert "Files cannot be sent" in chat.wait_for("#context .error").text


def test_address_of_a_picture_stays_text_in_an_edit(chats, pictures):
    chat = chats().open()
    chat.type("Mine")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    write(chat, Keys.ARROW_UP + " ")
    url = f"{pictures.url}/wide.png"
    give(chat, "drop", url)
    assert url in chat.find("[data-composer]").get_attribute("value")


def test_key_that_ends_a_composition_does_not_send(chats):
    chat = chats().open()
    chat.find("[data-composer]").send_keys("한국")
    press = """
        document.querySelector("[data-composer]").dispatchEvent(new KeyboardEvent("keydown", {
            key: "Enter", keyCode: arguments[0], isComposing: arguments[1], bubbles: true, cancelable: true }));
    """
    chat.run(press, 229, False)
    chat.run(press, 13, True)
    assert chat.find("[data-composer]").get_attribute("value") == "한국"
    chat.run(press, 13, False)
    chat.wait_text("한국")
    assert chat.texts() == ["한국"]


def test_text_is_measured_as_the_server_measures_it(chats):
    chat = chats().open()
    write_all = """
        const input = document.querySelector("[data-composer]");
        input.value = arguments[0];
        input.dispatchEvent(new Event("input"));
    """
    left = "document.querySelector('#left').textContent"
    chat.run(write_all, "가" * 5000)
    assert chat.run(f"return {left}") == ""
    chat.run(write_all, "가" * 5400)
    assert chat.run(f"return {left}") == "184 bytes left"
    chat.run(write_all, "가" * 16384)
    assert chat.run(f"return {left}") == "Too long by 32,768 bytes"
    chat.type("")
    assert chat.texts() == []
    chat.run(write_all, "가" * 5461 + "a")
    assert chat.run(f"return {left}") == "0 bytes left"
    chat.type("")
    chat.wait("document.querySelector('.row[data-state=stored]')")
    assert chat.run("return [...document.querySelectorAll('input:not([type=checkbox]), textarea')]"
                    ".every((node) => parseFloat(getComputedStyle(node).fontSize) >= 16)")


def test_failed_message_comes_back_into_the_composer(chats):
    chats.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chats.server.send("A question", user="bob")
    chat = chats().open()
    chat.click("[data-reply]")
    chat.run("document.querySelector('[data-composer]').value = 'half '.concat(String.fromCharCode(0xd83d))")
    chat.type("")
    chat.wait_for(".row[data-state=failed]")
    chat.find("[data-composer]").send_keys("Next")
    chat.click(".row[data-state=failed] [data-edit]")
    chat.wait("!document.querySelector('.row[data-state=failed]')")
    # The driver cannot read half a character.
    assert chat.run("return document.querySelector('[data-composer]').value.endsWith('\\nNext')")
    assert "A question" in chat.find("#context-text").text
    chat.run("const input = document.querySelector('[data-composer]'); input.value = input.value.toWellFormed()")
    chat.type("")
    chat.wait("document.querySelector('.mine[data-state=stored]')")
    message = chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")["messages"][-1]
    assert message["reply_to"] == 1 and message["text"].endswith("Next")


def test_double_click_selects_text_and_likes_beside_it(chats):
    chats.server.send("Some words to select", user="bob")
    chat = chats().open()
    chat.wait_text("Some words to select")
    text = chat.find(".row .text")
    ActionChains(chat.driver).move_to_element_with_offset(text, 20 - text.size["width"] // 2, 0).double_click().perform()
    assert chat.run("return getSelection().toString().trim()") in ("Some", "words", "to", "select")
    assert chat.run("return document.querySelector('[data-reaction]')") is None
    bubble = chat.find(".row .bubble")
    ActionChains(chat.driver).move_to_element_with_offset(bubble, -bubble.size["width"] // 2 + 5, 0).double_click().perform()
    chat.wait_for("[data-reaction]")


def test_double_tap_of_one_finger_likes(chats):
    for text in "One", "Two":
        chats.server.send(text, user="bob")
    chat = chats().open()
    chat.wait_text("Two")
    touch = """
        const [seq, touches] = arguments;
        const { left, top } = document.querySelector(`[data-seq="${seq}"] .bubble`).getBoundingClientRect();
        for (const [type, isPrimary, x] of touches) document.querySelector(`[data-seq="${seq}"] .text`).dispatchEvent(new PointerEvent(type, {
            pointerType: "touch", isPrimary, pointerId: isPrimary ? 1 : 2, clientX: left + x, clientY: top, bubbles: true }));
    """
    tap = [("pointerdown", True, 5), ("pointerup", True, 5)]
    two_fingers = [("pointerdown", True, 5), ("pointerdown", False, 9), ("pointerup", True, 5), ("pointerup", False, 9)]
    scroll = [("pointerdown", True, 5), ("pointerup", True, 60)]
    for touches in two_fingers * 2, scroll * 2, tap:
        chat.run(touch, 1, touches)
    chat.run(touch, 2, tap * 2)
    chat.wait_for("[data-seq='2'] [data-reaction]")
    assert chat.run("return document.querySelector(\"[data-seq='1'] [data-reaction]\")") is None


def test_name_with_a_space_is_refused_while_typing(chats):
    chat = chats()
    chat.driver.get(f"{chats.server.url}/?user=John+Smith")
    chat.wait("document.querySelector('#sign-in-error').textContent.includes('no spaces')")
    name = chat.wait_for("#sign-in-value")
    assert name.get_attribute("value") == "John Smith"
    name.clear()
    name.send_keys("John")
    assert chat.find("#sign-in-error").text == ""
    name.send_keys(" S")
    assert "no spaces" in chat.find("#sign-in-error").text
    name.send_keys(Keys.ENTER)
    assert chat.find("#sign-in").is_displayed()


# Changing


def test_arrow_up_edits_the_last_own_message(chats):
    chat = chats().open()
    for text in "First", "Second":
        chat.type(text)
    chats.server.send("Of another", user="bob")
    chat.wait_text("Of another")
    chat.wait("document.querySelectorAll('.row.mine[data-state=stored]').length === 2")
    write(chat, Keys.ARROW_UP)
    assert chat.find("[data-composer]").get_attribute("value") == "Second"
    # Escape leaves the message as it was.
    write(chat, Keys.ESCAPE)
    assert chat.find("[data-composer]").get_attribute("value") == ""
    write(chat, Keys.ARROW_UP)
    chat.type(", changed")
    chat.wait_text("Second, changed")
    assert chat.texts(".row.mine") == ["First", "Second, changed"]


def test_edit_that_fails_comes_back_into_the_composer(chats):
    chat = chats().open()
    chat.type("Before")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    chat.set_faults("status=503")
    chat.click(".mine [data-edit]")
    chat.type(" and after")
    chat.wait("document.querySelector('#context .error')")
    assert chat.find("[data-composer]").get_attribute("value") == "Before and after"
    chat.set_faults(None)
    chat.type("")
    chat.wait_text("Before and after")
    assert chat.find("[data-composer]").get_attribute("value") == ""


def test_messages_are_changed_by_one_user_and_seen_by_another(chats):
    server = chats.server
    fill(server, 20, user="carol")
    for user in "alice", "bob":
        server.request("PUT", f"/v1/rooms/lobby/read?user={user}", {"seq": 20})
    alice, bob = chats(0).open("alice"), chats(1).open("bob")
    alice.type("Hello")
    key = bob.wait_text("Hello")
    row = f"[data-key='{key}']"
    others = bob.run("return [...document.querySelectorAll('.row')].map((row) => (row.kept = true, row.dataset.key))")

    bob.click(f"{row} [data-react='{LIKE}']")
    alice.wait_for(f".mine [data-reaction='{LIKE}'][data-count='1']")
    bob.wait_for(f"{row} [data-reaction='{LIKE}'][aria-pressed=true]")
    ActionChains(alice.driver).double_click(alice.find(".mine .status")).perform()
    bob.wait_for(f"{row} [data-reaction='{LIKE}'][data-count='2']")

    # The open picker and the focus in it stay when the message changes.
    bob.click(f"{row} [data-pick]")
    assert bob.run("return document.activeElement.closest('.picker') !== null")
    alice.click(".mine [data-edit]")
    alice.find("[data-composer]").send_keys(Keys.CONTROL + "a")
    alice.type("Hello, all")
    bob.wait_text("Hello, all")
    assert bob.run("return document.activeElement.closest('.picker') !== null")
    bob.click(f"{row} .picker [data-react='🎉']")
    alice.wait_for(".mine [data-reaction='🎉']")
    assert bob.run("return document.activeElement.matches('[data-pick]')")
    # One element is changed; the others are the same.
    assert bob.run("return arguments[0].every((key) => document.querySelector(`[data-key='${key}']`)?.kept)", others)

    bob.click(f"{row} [data-reply]")
    bob.find("[data-composer]").send_keys("An answer")
    alice.wait("document.querySelector('[data-typing]').textContent === 'bob is typing…'")
    bob.type("")
    alice.wait_text("An answer")
    alice.wait_for("[data-jump]")
    assert "Hello, all" in alice.find("[data-jump]").text
    alice.click("[data-jump]")
    alice.wait_for(".row[data-found]")

    alice.wait("document.querySelector('.mine .readers')?.textContent === 'Read by bob'")
    alice.wait("document.querySelector('[data-online]').textContent === '2 here'")

    alice.choose(".mine", "delete")
    alice.wait_for("#question-yes").click()
    bob.wait_for(f"{row}[data-state=deleted] .tombstone")


def test_quote_leads_to_a_message_far_away(chats):
    fill(chats.server, 100)
    chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "See the first", "reply_to": 1})
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 101})
    chat = chats().open()
    chat.wait("document.querySelector('[data-jump]')?.textContent.includes('Message 1.')")
    chat.click("[data-jump]")
    chat.wait_for(".row[data-seq='1'][data-found]")
    assert chat.is_in_sight(".row[data-seq='1']")


def test_reaction_beyond_the_listed_users_is_known_and_removed(chats):
    server = chats.server
    server.send("Liked by many", user="bob")
    path = "/v1/rooms/lobby/messages/1/reactions/" + urllib.parse.quote(LIKE)
    for user in [*(f"alic{number}" for number in range(60)), "alice"]:
        server.request("PUT", f"{path}?user={user}")
    chat = chats().open()
    like = f".row[data-seq='1'] [data-reaction='{LIKE}']"
    chat.wait_for(like + "[data-count='61'][aria-pressed=false]")
    chat.click(like)
    chat.wait_for(like + "[data-count='60'][aria-pressed=false]")
    # The page knows the reaction that it has added, although the message does not list its user.
    chat.click(like)
    chat.wait_for(like + "[data-count='61'][aria-pressed=true]")
    chat.click(like)
    chat.wait_for(like + "[data-count='60'][aria-pressed=false]")
    asked = chat.run(
        "return performance.getEntriesByType('resource').filter(({ name }) => /reactions.*after=alic/.test(name)).length")
    assert asked == 1


@pytest.mark.parametrize("place", ["in the window", "far away"])
def test_quote_shows_the_message_as_it_is_now(chats, place):
    server = chats.server
    server.send("Original", user="bob")
    fill(server, 2 if place == "in the window" else 100)
    last = server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 1})["seq"]
    server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": last})
    chat = chats().open()
    chat.wait("document.querySelector('.quote')?.textContent.includes('Original')")
    server.request("PATCH", "/v1/rooms/lobby/messages/1?user=bob", {"text": "Edited"})
    chat.wait("document.querySelector('.quote').textContent.includes('Edited')")
    server.request("DELETE", "/v1/rooms/lobby/messages/1?user=bob")
    chat.wait("document.querySelector('.quote').textContent.includes('Deleted')")


# Coming back


def test_slow_network_shows_what_is_sent_and_loads_each_page_once(chats):
    fill(chats.server, 120)
    chat = chats().open(at=60)
    chat.driver.execute_cdp_cmd("Network.enable", {})
    chat.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": 1500, "downloadThroughput": 50_000, "uploadThroughput": 20_000})
    try:
        chat.run("performance.clearResourceTimings()")
        # While a page loads, the reader repeatedly scrolls against the edge.
        chat.wait("(document.querySelector('[data-timeline]').scrollTop -= 200, document.querySelector('.row[data-seq=\"1\"]'))")
        pages = chat.run("return performance.getEntriesByType('resource').map(({name}) => name).filter((name) => /messages\\?before/.test(name))")
        assert len(pages) == len(set(pages)) and len(pages) <= 2
        chat.type("From afar")
        chat.wait_text("From afar")
        chat.wait("document.querySelector('.row.mine[data-state=stored]')")
        assert chat.status("after") == "end"
    finally:
        chat.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})


def test_one_user_on_two_devices_and_another_one(chats):
    phone, desk, bob = chats(0), chats(1), chats(2)
    fill(chats.server, 10)
    for user in "alice", "bob":
        chats.server.request("PUT", f"/v1/rooms/lobby/read?user={user}", {"seq": 10})
    phone.open("alice")
    desk.open("alice")
    bob.open("bob")
    phone.type("From the phone")
    desk.wait_text("From the phone")
    desk.type("From the desk")
    bob.wait_text("From the desk")
    bob.type("An answer")
    texts = ["From the phone", "From the desk", "An answer"]
    for chat in phone, desk, bob:
        chat.wait_text("An answer")
        chat.wait("[...document.querySelectorAll('.row.mine')].every((row) => row.dataset.state === 'stored')")
        assert chat.texts()[-3:] == texts
    # Both devices show both messages as the user's own. A message that was read on one device is not unread on the other.
    for chat in phone, desk:
        assert chat.texts(".row.mine") == texts[:2]
        chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")


def test_page_comes_back_after_the_server_was_away(chats):
    chat = chats().open()
    chats.server.send("Before", user="bob")
    chat.wait_text("Before")
    chats.server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    # The second once a request had no answer.
    assert chat.find("#connection").text in ("Connecting…", "Server not answering")
    chats.server.start()
    chats.server.send("Meanwhile", user="bob")
    chat.wait_text("Meanwhile")
    chat.wait_live()
    assert chat.texts() == ["Before", "Meanwhile"]


def test_page_loads_a_restored_history_anew(chats):
    chat = chats().open()
    chats.server.send("Kept", user="bob")
    chat.wait_text("Kept")
    chats.server.stop()
    chats.server.restore_backup()
    chats.server.start()
    chat.wait_live()
    chats.server.send("New", user="bob")
    chat.wait_text("New")
    assert chat.texts() == ["Kept", "New"]


@pytest.mark.parametrize("fault", ["cut-live=2", "torn-frame=2", "drop-frame=2", "double-frame=2", "fragment-frames=16"])
def test_live_messages_are_complete_over_a_broken_connection(chats, fault):
    chat = chats()
    chat.driver.get("about:blank")
    chat.set_faults(fault)
    chat.open()
    for number in range(6):
        chats.server.send(f"Number {number}", user="bob")
    chat.wait("document.querySelectorAll('.row').length === 6")
    assert chat.texts() == [f"Number {number}" for number in range(6)]


def test_removed_member_is_told(chats):
    server = chats.server
    server.request("PUT", "/v1/rooms/plans?user=bob", {"visibility": "private"})
    server.request("PUT", "/v1/rooms/plans/members/alice?user=bob", {"role": "member"})
    server.send("Secret", room="plans", user="bob")
    chat = chats().open(room="plans")
    chat.wait_for("[data-room-item=plans]")
    server.request("DELETE", "/v1/rooms/plans/members/alice?user=bob")
    assert "not a member" in chat.wait_for("#ended").text
    assert not chat.find("#composer").is_displayed()
    chat.wait("!document.querySelector('[data-room-item=plans]')")


def test_page_comes_back_from_a_long_sleep(chats):
    chat = chats().open()
    chats.server.send("Before", user="bob")
    chat.wait_text("Before")
    # While a device sleeps, the page's timers stop, and the server ends its sockets.
    chat.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})
    chats.server.stop()
    chats.server.start()
    for number in range(40):
        last = chats.server.send(f"Meanwhile {number}", user="bob")["text"]
    chat.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})
    chat.driver.minimize_window()
    chat.driver.set_window_size(1200, 800)
    chat.wait("!document.hidden")
    # The reader follows if the page becomes visible before it reconnects. Otherwise the toast counts the new messages.
    chat.wait(f"!document.querySelector('[data-toast]').hidden || document.querySelector('.row:last-of-type .text')?.textContent === '{last}'")
    chat.wait_live()
    assert chat.status("after") == "end"
    chat.click("[data-to-latest]")
    chat.wait_text(last)


def test_socket_that_was_slept_over_is_replaced_at_once(chats):
    chat = chats().open()
    chat.run("""
        window.sockets = new Set();
        const { send } = WebSocket.prototype;
        WebSocket.prototype.send = function (frame) {
            window.sockets.add(this);
            return send.call(this, frame);
        };
        const now = Date.now;
        Date.now = () => now() + 600_000;
        document.dispatchEvent(new Event("resume"));
    """)
    # The screen need not show "offline": a new socket may be open before the next frame is drawn.
    chat.wait("window.sockets.size === 2 && document.querySelector('[data-timeline]').dataset.connection === 'live'")
    chats.server.send("After", user="bob")
    chat.wait_text("After")


# Rooms


def test_visited_room_is_listed_without_being_joined(chats):
    server = chats.server
    for room in "garden", "home":
        server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open"})
    server.request("PUT", "/v1/rooms/home/members/bob?user=alice", {"role": "member"})
    server.send("Welcome", room="garden")
    chat = chats().open("bob", "garden")
    chat.wait_for("[data-room-item=garden]")
    chat.click("[data-room-item=home] a")
    chat.wait("document.querySelector('#room-title').textContent === 'home'")
    server.send("Come back", room="garden")
    chat.wait("document.querySelector('[data-room-item=garden]').textContent.includes('Come back')")
    chat.wait_for("[data-room-item=garden][data-unread='1']")
    # The list keeps the room, so the user can return to it.
    chat.open("bob", "home")
    chat.wait_for("[data-room-item=garden]")
    chat.click("[data-room-item=garden] a")
    chat.wait_text("Come back")
    assert chat.find("#join").is_displayed()


def test_rooms_are_listed_with_unread_badges(chats):
    server = chats.server
    for room in "one", "two":
        server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open", "title": room.title()})
    chat = chats().open(room="one")
    chat.wait_for("[data-room-item=two]")
    server.send("Look here", room="two", user="bob")
    chat.wait_for("[data-room-item=two][data-unread='1']")
    assert "Look here" in chat.find("[data-room-item=two]").text
    # The status is at once that of the new room.
    assert chat.run("""
        document.querySelector("[data-room-item=two] a").click();
        return document.querySelector("[data-timeline]").dataset.connection;
    """) == "offline"
    chat.wait_text("Look here")
    assert "room=two" in chat.driver.current_url
    chat.wait_for("[data-room-item=two][data-unread='0']")
    chat.driver.back()
    chat.wait("document.querySelector('#room-title').textContent === 'One'")


def test_rooms_are_made_and_joined(chats):
    alice, bob = chats(0), chats(1)
    alice.open()
    alice.click("[data-new-room]")
    alice.wait_for("#new-room-id").send_keys("garden")
    alice.find("#new-room-name").send_keys("The garden", Keys.ENTER)
    alice.wait_for("[data-room-item=garden] [aria-current]")
    bob.open("bob", "garden")
    bob.wait_for("#join").click()
    bob.wait_for("[data-room-item=garden]")
    alice.click("#members")
    alice.wait("document.querySelector('#member-list').textContent.includes('bob')")


@pytest.fixture
def resized(chats):
    """Sets the width and height of a chat's screen in CSS pixels, until the test ends."""
    chat = chats()

    def resize(width, height, scale=1, mobile=False):
        chat.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile})

    yield resize
    chat.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_phone_shows_one_pane(chats, resized):
    chat = chats()
    resized(320, 640, 2, True)
    chats.server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open"})
    fill(chats.server, 5)
    chat.open()
    assert not chat.find(".rooms").is_displayed()
    chat.click("#back")
    chat.wait_for("[data-room-item=lobby]")
    assert not chat.find("#screen").is_displayed()


@pytest.mark.parametrize("size", [(320, 640, 2, True), (600, 400, 2, False), (3840, 2160, 1, False)], ids=["phone", "zoom", "4k"])
def test_nothing_is_wider_than_the_screen(chats, resized, size):
    server = chats.server
    server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open", "title": "A title that is too long for most screens " * 5})
    name = "n" * 120
    for text in "w" * 300, "```\n" + "code " * 100 + "\n```", "https://example.com/" + "path/" * 100, "שלום " * 40, "One":
        number = server.send(text, user=name)["seq"]
    for index in range(20):
        server.request("PUT", f"/v1/rooms/lobby/messages/{number}/reactions/key{index}{'x' * 20}?user=bob")
    server.request("POST", f"/v1/rooms/lobby/messages?user={name}", {
        "reply_to": 1, "attachments": [{"type": "image", "url": f"{server.url}/nothing.png", "width": 4000, "height": 1000}]})
    chat = chats()
    resized(*size)
    for seq in 1, 4, number, number + 1:
        chat.open(at=seq)
        assert chat.run("return document.documentElement.scrollWidth") <= size[0]
        # Elements in the list or beside the composer do not extend beyond it either.
        assert chat.run("""
            const screen = document.querySelector("#screen").getBoundingClientRect();
            return [...document.querySelectorAll("#screen > *, .row > *, .body > :not(.actions), .bubble > *, .composer *")]
                .filter((node) => node.getClientRects().length)
                .filter((node) => { const box = node.getBoundingClientRect(); return box.left < screen.left - 1 || box.right > screen.right + 1; })
                .map((node) => node.outerHTML.slice(0, 100));
        """) == []


# What a message shows


def test_thumbhash_is_drawn_until_the_picture_has_loaded(chats, pictures):
    chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"attachments": [{
        "type": "image", "url": f"{pictures.url}/late.png", "width": 600, "height": 200, "thumbhash": "1QcSHQRnh493V4dIh4eXh1h4kJUI"}]})
    chat = chats().open()
    chat.wait_for(".media canvas")
    size = "(({width, height}) => [width, height])(document.querySelector('.media').getBoundingClientRect())"
    before = chat.run(f"return {size}")
    assert abs(before[0] / before[1] - 3) < 0.05
    drawn = chat.run("""
        const canvas = document.querySelector(".media canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const box = canvas.getBoundingClientRect();
        return { colours: new Set(Array.from({ length: data.length / 4 }, (_, pixel) => data.slice(4 * pixel, 4 * pixel + 3).join())).size,
            size: [box.width, box.height], hasLoaded: document.querySelector(".media img").naturalWidth > 0 };
    """)
    assert not drawn["hasLoaded"]
    assert drawn["colours"] > 50 and drawn["size"] == before
    pictures.release()
    chat.wait("document.querySelector('.media img').naturalWidth === 6")
    assert chat.run(f"return {size}") == before


def test_text_has_links_code_and_direction(chats):
    server = chats.server
    server.send("See https://example.com/a_(b), and `let x`.\n```\ncode <b>\n```", user="bob")
    server.send("שלום לך", user="bob")
    chat = chats().open()
    link = chat.wait_for(".text a")
    assert link.get_attribute("href") == "https://example.com/a_(b)"
    assert "noreferrer" in link.get_attribute("rel")
    assert chat.find(".text pre").text == "code <b>"
    assert chat.run("return getComputedStyle(document.querySelector('.row:last-of-type p')).direction") == "rtl"
    assert chat.find(".line.day").text == "today"
    assert chat.run("return document.querySelectorAll('.row.grouped').length") == 1


# Formats texts of the maximum length: each begins with a seed, and repeats a pair of characters. Formatting that takes time by the
# square of the length does not end in time.
FORMAT = """
const done = arguments[0];
import("/page/text.js").then(({ formatted, pictureURL, summary }) => {
    const characters = ["a", " ", "\\n", "é", "。"];
    for (let code = 33; code < 127; code++) if (!/\\w/.test(String.fromCharCode(code))) characters.push(String.fromCharCode(code));
    let wrong = 0;
    const check = (text) => {
        const shown = document.createElement("div");
        shown.append(...formatted(text));
        // Only line feeds between paragraphs and the marks of code, emphasis, quotes and lists are left out.
        const left = (text) => text.replace(/[`*_>.)\\s-]/g, "");
        if (left(shown.textContent) !== left(text)) wrong++;
        summary({ text });
        pictureURL(text);
    };
    for (const seed of ["", "http://a", "`", "```", "\\n", "**", "_", "_http://a", "- ", "> "]) for (const one of [...characters, "_", "_a ", "_a_ ", "**a", "**a**"]) check((seed + one.repeat(16384)).slice(0, 16384 - 1) + "a");
    for (const one of characters) for (const other of characters) check("http://a" + (one + other).repeat(2048));
    done(wrong);
}, (error) => done(String(error)));
"""


def test_longest_texts_are_formatted_in_linear_time(chats):
    driver = chats().open().driver
    # 2,000 texts take a slow machine half a minute. In quadratic time they would take hours.
    driver.set_script_timeout(10 * DEADLINE)
    try:
        assert driver.execute_async_script(FORMAT) == 0
    finally:
        driver.set_script_timeout(DEADLINE)


def test_address_keeps_balanced_pairs_only(chats):
    chat = chats().open()
    shown = chat.driver.execute_async_script("""
        const [texts, done] = arguments;
        import("/page/text.js").then(({ formatted }) => done(texts.map((text) => {
            const shown = document.createElement("div");
            shown.append(...formatted(text));
            return shown.querySelector("a")?.textContent ?? null;
        })));
    """, ["(http://a.b/c)", "http://a.b/c_(d).", "http://a.b/[1]]", "http://a.b/{x}}!", "「http://a.b/c」。", "http://a.b/(c", "http://"])
    assert shown == ["http://a.b/c", "http://a.b/c_(d)", "http://a.b/[1]", "http://a.b/{x}", "http://a.b/c", "http://a.b/(c", None]


def test_texts_are_cut_between_characters(chats):
    family, flag, letter = "👩‍👩‍👧‍👦", "🇩🇪", "é"
    chat = chats().open()
    result = chat.driver.execute_async_script("""
        const [parts, done] = arguments;
        import("/page/text.js").then(({ cut, initials, summary }) => {
            const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
            const wrong = [];
            for (const part of parts) for (let before = 0; before < 20; before++) {
                const text = "a".repeat(before) + part.repeat(100);
                for (const short of [summary({ text }), summary({ attachments: [{ type: "file", title: text }] })]) {
                    const shown = [...segmenter.segment(short)].map(({ segment }) => segment);
                    if (shown.pop() !== "…" || short.length > 141 || shown.some((one) => one !== "a" && one !== part)) wrong.push([text, short]);
                }
            }
            done({ wrong, initials: parts.map((part) => initials(`${part}x ${part}`)), whole: cut("😀", 2), half: cut("😀".repeat(3), 1) });
        });
    """, [family, flag, letter, "😀", "👍🏽"])
    assert result["wrong"] == []
    assert result["initials"] == [family * 2, flag * 2, "É" * 2, "😀" * 2, "👍🏽" * 2]
    assert (result["whole"], result["half"]) == ("😀", "…")


@pytest.mark.parametrize("kind", ["image", "video"])
def test_any_declared_size_is_drawn_in_a_frame(chats, pictures, kind):
    sizes = [(1, 3000), (3000, 1), (1, 2147483647), (2147483647, 1), (2147483647, 2147483647), (1, 1), (420, 320), (840, 320), (300, 200)]
    for width, height in sizes:
        chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {
            "attachments": [{"type": kind, "url": f"{pictures.url}/wide.png", "width": width, "height": height}]})
    drawn = []
    chat = chats()
    for seq in range(1, len(sizes) + 1):
        chat.open(at=seq)
        drawn.append(chat.run("const { width, height } = document.querySelector(`[data-seq='${arguments[0]}'] .media`).getBoundingClientRect();"
                              "return [Math.round(width), Math.round(height)]", seq))
    assert drawn == [[48, 320], [420, 48], [48, 320], [420, 48], [320, 320], [48, 48], [420, 320], [420, 160], [300, 200]]


def test_directions_do_not_mix(chats):
    server = chats.server
    server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open", "title": "שלום"})
    server.send("שלום `a-1` עולם https://example.com/a סוף", user=urllib.parse.quote("דנה"))
    chat = chats().open()
    chat.wait("document.querySelector('#room-title').textContent === 'שלום'")
    assert chat.run("return [...document.querySelectorAll('.text code, .text a')].every((node) => node.closest('bdi'))")
    # The title begins where the line below it does, and the name is as far in as the text.
    left = chat.run("""
        const range = document.createRange();
        return ["#room-title", ".sender", ".row .text"].map((selector) => {
            const node = document.querySelector(selector);
            range.selectNodeContents(node);
            return [range.getBoundingClientRect().left, node.getBoundingClientRect().left];
        });
    """)
    assert abs(left[0][0] - left[0][1]) < 1
    assert abs(left[1][0] - left[1][1] - 12) < 1


def test_copied_messages_are_what_was_written(chats):
    chats.server.send("First", user="bob")
    chats.server.request("PUT", "/v1/rooms/lobby/messages/1/reactions/%F0%9F%91%8D?user=bob")
    chats.server.send("Second", user="alice")
    chat = chats().open()
    chat.wait_text("Second")
    copied = chat.run("getSelection().selectAllChildren(document.querySelector('#messages')); return getSelection().toString()")
    assert copied.split() == ["Today", "bob", "First", "Second"]


# Access

@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules_hold(chats, scheme):
    server = chats.server
    server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open"})
    fill(server, 12)
    server.send("https://example.com and `code`\n```\nblock\n```", user="bob")
    server.send("Mine https://example.com and `code`", user="alice")
    server.request("PUT", "/v1/rooms/lobby/messages/14/reactions/%F0%9F%91%8D?user=bob")
    server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 14})
    chat = chats()
    chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
    try:
        chat.open()
        chat.wait_for("[data-room-item=lobby]")
        chat.click("[data-reply]")
        assert chat.violations() == []
        chat.click("#members")
        chat.wait_for("#member-list li")
        assert chat.violations() == []
        chat.driver.get(chat.server.url)
        chat.wait_for("#sign-in-value")
        assert chat.violations() == []
    finally:
        chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_keyboard_reaches_messages_and_their_actions(chats):
    chats.server.send("One", user="bob")
    chats.server.send("Two", user="bob")
    chat = chats().open()
    chat.wait_text("Two")
    chat.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    assert chat.run("return document.activeElement.dataset.seq") == "2"
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert chat.run("return document.activeElement.dataset.seq") == "1"
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert chat.run("return document.activeElement.dataset.react") == LIKE
    chat.driver.switch_to.active_element.send_keys(Keys.ENTER)
    chat.wait_for(f"[data-seq='1'] [data-reaction='{LIKE}']")
    chat.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert chat.run("return document.activeElement.matches('[data-composer]')")


def test_list_is_one_stop_for_the_tab_key(chats):
    for index in range(12):
        chats.server.request("PUT", f"/v1/rooms/room{index}?user=alice", {"visibility": "open"})
    fill(chats.server, 30)
    chat = chats().open()
    chat.wait_for("[data-room-item=room11]")
    chat.run("document.activeElement.blur(); document.querySelector('[data-new-room]').focus()")
    presses = 0
    while not chat.run("return document.activeElement.matches('[data-composer]')"):
        chat.driver.switch_to.active_element.send_keys(Keys.TAB)
        presses += 1
        assert presses <= 10
    # Back from the text field to the list, and from a control in a message out of the list.
    chat.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    chat.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    chat.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert chat.run("return document.activeElement.closest('[data-timeline]')") is None
    first = chat.run("const [first] = document.querySelectorAll('[data-room-item] a[tabindex=\"0\"]'); first.focus(); return first.href")
    chat.driver.switch_to.active_element.send_keys(Keys.END)
    assert chat.run("return document.activeElement === [...document.querySelectorAll('[data-room-item] a')].at(-1)")
    assert chat.run("return document.querySelectorAll('[data-room-item] a[tabindex=\"0\"]').length") == 1 and first


def test_focus_follows_a_jump(chats):
    fill(chats.server, 100)
    chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 1})
    chat = chats().open(at=101)
    # A link to a message marks it, and leaves the focus.
    assert chat.run("return document.activeElement === document.body")
    chat.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ENTER)
    chat.wait("document.activeElement.dataset.seq === '1'")
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert chat.run("return document.activeElement.dataset.seq") == "2"


def test_what_is_typed_on_a_message_goes_to_the_text_field(chats):
    chats.server.send("One", user="bob")
    chat = chats().open()
    chat.wait_text("One")
    chat.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    assert chat.run("return document.activeElement.dataset.seq") == "1"
    ActionChains(chat.driver).send_keys("Hi").perform()
    assert chat.find("[data-composer]").get_attribute("value") == "Hi"
    # The accent of the letter that follows.
    chat.run("""
        const row = document.querySelector(".row");
        row.focus();
        row.dispatchEvent(new KeyboardEvent("keydown", { key: "Dead", bubbles: true }));
    """)
    assert chat.run("return document.activeElement.matches('[data-composer]')")


def test_room_that_is_chosen_has_the_focus_in_its_text_field(chats):
    for room in "lobby", "other":
        chats.server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open"})
    chat = chats().open()
    chat.click("[data-room-item=other] a")
    chat.wait_live()
    assert chat.run("return document.activeElement.matches('[data-composer]')")
    chat.click("#members")
    chat.wait_for("#member-list .who")
    assert chat.run("return document.activeElement.id") == "members-title"


def test_home_and_end_go_to_the_first_and_the_newest_message(chats):
    fill(chats.server, 200)
    chat = chats().open(at=100)
    chat.find("[data-timeline]").send_keys(Keys.HOME)
    chat.wait_for('.row[data-seq="1"]')
    chat.wait("document.querySelector('[data-timeline]').scrollTop === 0")
    chat.find("[data-timeline]").send_keys(Keys.END)
    chat.wait_for('.row[data-seq="200"]')
    chat.wait(chat.at_bottom())


def test_forced_colours_mark_the_open_room(chats):
    chats.server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open"})
    chats.server.request("PUT", "/v1/rooms/other?user=alice", {"visibility": "open"})
    chat = chats()
    chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}]})
    try:
        chat.open()
        chat.wait_for("[data-room-item=other]")
        colour = "return getComputedStyle(document.querySelector(`[data-room-item=${arguments[0]}] a`)).borderLeftColor"
        assert chat.run(colour, "lobby") != chat.run(colour, "other")
    finally:
        chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Returns the contrast of two colours.
CONTRAST = """
const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
const contrast = (...colours) => colours.map(light).sort((a, b) => b - a).map((value) => value + 0.05).reduce((bright, dark) => bright / dark);
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_placeholder_can_be_read(chats, scheme):
    chat = chats()
    chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        assert chat.open().run(CONTRAST + """
            const input = document.querySelector("[data-composer]");
            return contrast(getComputedStyle(input, "::placeholder").color, getComputedStyle(input).backgroundColor);
        """) >= 4.5
    finally:
        chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_focus_in_own_messages_can_be_seen(chats, scheme):
    chats.server.send("One", user="bob")
    chats.server.request("POST", "/v1/rooms/lobby/messages?user=alice", {"text": "Two", "reply_to": 1})
    chat = chats()
    chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        chat.open()
        chat.find("[data-timeline]").send_keys(Keys.ARROW_UP)
        chat.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        assert chat.run(CONTRAST + """
            const ring = getComputedStyle(document.activeElement);
            return ring.outlineStyle === "solid" && contrast(ring.outlineColor, getComputedStyle(document.activeElement.closest(".mine .bubble")).backgroundColor);
        """) >= 3
    finally:
        chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Safety

CORPUS = [
    "<script>window.broken = 1</script>", "<img src=x onerror='window.broken=1'>", "<svg onload='window.broken=1'>",
    "javascript:window.broken=1", "[x](javascript:window.broken=1)", "https://example.com/\"onmouseover=\"window.broken=1",
    "```\n</code></pre><script>window.broken=1</script>\n```", "\u202eevil\u202c \u2066text", "Z̷̢̧͓̖̮a̷̡͔̦̗l̸͇̘̲g̵̛̰o" * 20, "w" * 4000,
    "{{constructor.constructor('window.broken=1')()}}", "&lt;script&gt;",
]


def test_what_users_type_is_text(chats):
    server = chats.server
    for text in CORPUS:
        server.send(text, user="bob")
    for url in "javascript:window.broken=1", "data:text/html,<script>1</script>":
        try:
            server.request("POST", "/v1/rooms/lobby/messages?user=bob", {
                "attachments": [{"type": "link", "url": url, "title": "<b>x</b>", "description": "<script>1</script>"}]})
        except OSError:
            pass  # The server refuses such addresses itself.
    chat = chats().open()
    seen = set()
    for _ in range(100):
        seen |= set(chat.run("return [...document.querySelectorAll('.row')].map((row) => row.dataset.seq)"))
        if len(seen) >= len(CORPUS):
            break
        chat.scroll(300)
        chat.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    assert len(seen) >= len(CORPUS)
    assert chat.run("return window.broken") is None
    assert chat.run("return document.querySelectorAll('#messages script, #messages [onload], #messages [onerror]').length") == 0
    addresses = chat.run("return [...document.querySelectorAll('#messages a')].map((link) => link.protocol)")
    assert set(addresses) <= {"https:", "http:"}
    # Very long words and many combining marks do not make the messages wider than the screen.
    assert chat.run("const s = document.querySelector('[data-timeline]'); return s.scrollWidth <= s.clientWidth")


def test_token_is_asked_for_and_stays_out_of_urls(browsers, tokens):
    chat = Chat(browsers(0), tokens.server)
    chat.driver.get(f"{tokens.server.url}/?room=lobby")
    chat.wait("document.querySelector('#sign-in-label').textContent === 'Token'")
    token = tokens.make("alice")
    chat.find("#sign-in-value").send_keys(token, Keys.ENTER)
    chat.wait_live()
    chat.type("Signed in")
    chat.wait("document.querySelector('.row[data-state=stored]')")
    addresses = chat.run("return performance.getEntriesByType('resource').map(({ name }) => name).concat(location.href)")
    assert not [address for address in addresses if token in address]
    chat.run("sessionStorage.clear()")
    chat.driver.get("about:blank")
