"""The chat page at `/` after absences: a room that is left and opened again, a background, a sleep, a connection that dies silently."""

import pytest
from conftest import DEADLINE, Chat
from selenium.webdriver.support.ui import WebDriverWait

# What the browser has stored of the window of a room.
STORED = """
const [user, room, done] = arguments;
const request = indexedDB.open("backscroll");
request.onsuccess = () => {
    const key = ["backscroll", location.origin, user, "window", room].map(encodeURIComponent).join("/");
    const get = request.result.transaction("values").objectStore("values").get(key);
    get.onsuccess = () => (request.result.close(), done(get.result ?? null));
};
"""


def send(server, texts, room="lobby", user="bob"):
    for text in texts:
        server.send(text, room=room, user=user)


def stored(chat, user="alice", room="lobby"):
    return chat.driver.execute_async_script(STORED, user, room)


def read_to_the_end(chat, count=60):
    """Fills a room, which the reader reads to its end."""
    send(chat.server, [f"Read {number}" for number in range(1, count + 1)])
    chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": count})
    chat.open()
    chat.wait(chat.at_bottom())
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: (stored(chat) or {}).get("read") == count)


def assert_line_before(chat, seq):
    """Asserts that the unread line is in sight before a message, and that the messages after the screen are unread."""
    chat.wait(f"document.querySelector('[data-key=unread]')?.nextElementSibling?.dataset.seq === '{seq}'")
    chat.wait_live()
    assert chat.is_in_sight("[data-key=unread]")
    assert not chat.run(f"return {chat.at_bottom()}")
    assert int(chat.status("unread")) > 20
    assert chat.server.request("GET", "/v1/rooms/lobby?user=alice")["read"] < seq + 25


@pytest.mark.parametrize("way", ["another room", "a closed page"])
def test_returning_reader_finds_the_first_unread_message(chats, way):
    chat = chats()
    read_to_the_end(chat)
    if way == "another room":
        send(chat.server, ["Elsewhere"], room="other")
        chat.server.request("PUT", "/v1/rooms/other/members/alice?user=bob", {"role": "member"})
        chat.wait_for("[data-room-item=other]")
        chat.click("[data-room-item=other] a")
        chat.wait_text("Elsewhere")
    else:
        chat.driver.get("about:blank")
    send(chat.server, [f"Missed {number}" for number in range(1, 46)])
    if way == "another room":
        chat.click("[data-room-item=lobby] a")
    else:
        chat.open(wait=False)
    assert_line_before(chat, 61)


def test_reader_of_a_lost_connection_finds_the_first_unread_message(chats):
    chat = chats()
    read_to_the_end(chat)
    chat.driver.execute_cdp_cmd("Network.enable", {})
    chats.server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    port = chats.server.start(0)
    for number in range(1, 46):
        chats.server.send(f"Missed {number}", user="bob", port=port)
    chats.server.stop()
    chats.server.start()
    assert_line_before(chat, 61)


# What another device has read


# The number of unread messages at each place that tells it; None where it is not shown.
NUMBERS = """
const shown = (node) => (node?.checkVisibility() ? parseInt(node.textContent) || 0 : null);
const toast = document.querySelector("[data-toast]");
return {
    title: parseInt(document.title.match(/^[(]([0-9]+)[)]/)?.[1] ?? 0),
    arrow: shown(document.querySelector("[data-to-latest] .badge")),
    list: shown(document.querySelector("[data-room-item=lobby] .badge")) ?? 0,
    toast: toast.checkVisibility() ? Number(toast.dataset.count) : 0,
};
"""


def wait_numbers(chat, unread):
    """Waits until all places tell this number of unread messages."""
    def is_so(_):
        numbers = chat.run(NUMBERS)
        return all((numbers[place] or 0) == unread for place in ("title", "arrow", "list", "toast"))
    WebDriverWait(chat.driver, DEADLINE, 0.05).until(is_so, message=f"{unread} and not {chat.run(NUMBERS)}")


def be_away(chat, work):
    """Does some work while the page has no connection. The work gets the server's port."""
    server = chat.server
    server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    work(server.start(0))
    server.stop()
    server.start()
    chat.wait_live()


@pytest.mark.parametrize("place", ["at the end", "further up"])
@pytest.mark.parametrize("left", [0, 20])
def test_reader_of_a_lost_connection_knows_what_another_device_has_read(chats, place, left):
    chat = chats()
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat.server.request("PUT", "/v1/rooms/lobby/members/alice?user=bob", {"role": "member"})
    read_to_the_end(chat)
    if place == "further up":
        chat.scroll(-900)
        chat.wait(f"!{chat.at_bottom()}")

    def work(port):
        for number in range(1, 46):
            chat.server.send(f"Missed {number}", user="bob", port=port)
        chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 105 - left}, port)

    be_away(chat, work)
    wait_numbers(chat, left)
    assert chat.server.request("GET", "/v1/rooms/lobby?user=alice")["read"] == 105 - left


def test_answer_to_a_mark_tells_what_another_device_has_read(chats, start_server):
    server = start_server("--no-read-notices")
    chat = Chat(chats().driver, server)
    send(server, [f"Number {number}" for number in range(1, 101)])
    chat.open(at=20)
    chat.wait("document.querySelector('[data-timeline]').dataset.unread > 50")
    server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 90})
    chat.scroll(200)
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '10'")


def test_mark_that_could_not_be_sent_is_sent_after_a_reload(chats):
    chat = chats()
    read_to_the_end(chat)
    chat.run("const real = fetch; window.fetch = (path, options) => (options.method === 'PUT' ? Promise.reject() : real(path, options))")
    chat.server.send("Read live", user="bob")
    chat.wait_text("Read live")
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: (stored(chat) or {}).get("read") == 61)
    assert chat.server.request("GET", "/v1/rooms/lobby?user=alice")["read"] == 60
    chat.driver.refresh()
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: chat.server.request("GET", "/v1/rooms/lobby?user=alice")["unread"] == 0)


def test_mark_is_asked_for_until_it_is_answered(chats):
    chat = chats()
    read_to_the_end(chat)
    chat.driver.get("about:blank")
    send(chat.server, [f"Missed {number}" for number in range(1, 46)])
    chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 105})
    # The page opens from its store while the reader is elsewhere, and its requests fail.
    refuse = chat.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
        "source": "window.real = fetch; window.fetch = () => Promise.reject(); document.hasFocus = () => false"})
    try:
        chat.open(wait=False)
        chat.wait("document.querySelector('[data-timeline][data-connection=live]')?.dataset.unread === '45'")
        chat.run("window.fetch = window.real; window.dispatchEvent(new Event('online'))")
        chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")
    finally:
        chat.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", refuse)


def test_all_places_tell_the_same_number_at_once(chats):
    chat = chats()
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat.server.request("PUT", "/v1/rooms/lobby/members/alice?user=bob", {"role": "member"})
    read_to_the_end(chat)
    chat.wait_for("[data-room-item=lobby]")
    chat.scroll(-900)
    chat.wait(f"!{chat.at_bottom()}")
    chat.run("""
        const numbers = new Function(arguments[0]);
        window.different = [];
        const look = () => {
            const { title, arrow, list } = numbers();
            if (title !== (arrow ?? 0) || title !== list) window.different.push([title, arrow, list]);
            requestAnimationFrame(() => setTimeout(look));
        };
        look();
    """, NUMBERS)
    send(chat.server, ["One", "Two", "Three"])
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '3'")
    chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 62})
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '1'")
    wait_numbers(chat, 1)
    assert chat.run("return window.different") == []
    # The list has the number when the room is left, too.
    chat.click("#back")
    assert chat.run(NUMBERS)["list"] == 1 and chat.run(NUMBERS)["title"] == 1


def test_reader_in_front_follows_without_a_line(chats):
    chat = chats()
    read_to_the_end(chat)
    chat.server.send("Watched", user="bob")
    chat.wait_text("Watched")
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")
    assert chat.run(f"return {chat.at_bottom()}")
    assert not chat.run("return document.querySelector('[data-key=unread]')")


def test_list_stays_while_the_reader_is_elsewhere(chats):
    chat = chats()
    read_to_the_end(chat)
    chat.run("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    key, top = chat.reading(), chat.top(chat.reading())
    send(chat.server, [f"Missed {number}" for number in range(1, 41)])
    chat.wait("document.querySelector('[data-toast]')?.dataset.count === '40'")
    assert chat.reading() == key and abs(chat.top(key) - top) < 1
    assert not chat.run(f"return {chat.at_bottom()}")
    chat.run("delete document.hasFocus; window.dispatchEvent(new Event('focus'))")
    assert chat.run("return document.querySelector('[data-key=unread]').nextElementSibling.dataset.seq") == "61"
    assert chat.reading() == key
    assert int(chat.status("unread")) == 40
    # The reader goes there, and follows again.
    chat.click("[data-toast]")
    chat.wait(chat.at_bottom())
    chat.server.send("Watched", user="bob")
    chat.wait_text("Watched")
    chat.wait(chat.at_bottom())


@pytest.mark.parametrize("count", [*range(1, 13), 60])
def test_line_that_comes_while_the_reader_is_elsewhere_is_not_cut(chats, count):
    chat = chats()
    read_to_the_end(chat, count)
    chat.run("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    key, top = chat.reading(), chat.top(chat.reading())
    send(chat.server, [f"Missed {number}" for number in range(1, 41)])
    chat.wait("document.querySelector('[data-toast]')?.dataset.count === '40'")
    box = chat.run("""
        const range = document.createRange();
        range.selectNodeContents(document.querySelector("[data-key=unread]"));
        const { top, bottom } = range.getBoundingClientRect();
        return { top, bottom, edge: document.querySelector("[data-timeline]").getBoundingClientRect().bottom };
    """)
    assert box["bottom"] <= box["edge"] or box["top"] >= box["edge"]
    assert chat.reading() == key and abs(chat.top(key) - top) < 1


def test_restored_room_knows_what_is_unread(chats):
    chat = chats()
    send(chat.server, [f"Number {number}" for number in range(1, 301)])
    chat.open()
    chat.wait("document.querySelector('[data-timeline]').dataset.unread > 250")
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: (stored(chat) or {}).get("unread"))
    chat.driver.get("about:blank")
    send(chat.server, ["One more"])
    chat.open()
    # The marks of what comes into sight are sent a little later.
    WebDriverWait(chat.driver, DEADLINE).until(
        lambda _: int(chat.status("unread")) == chat.server.request("GET", "/v1/rooms/lobby?user=alice")["unread"])
    assert int(chat.status("unread")) > 250


def test_read_mark_is_stored_when_the_room_is_left(chats):
    chat = chats()
    send(chat.server, [f"Number {number}" for number in range(1, 6)])
    chat.open()
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")
    # Before the pauses after which the mark is sent and stored.
    chat.click("#back")
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: (stored(chat) or {}).get("read") == 5)
    assert chat.server.request("GET", "/v1/rooms/lobby?user=alice")["read"] == 5


def test_place_is_kept_on_reload_and_when_rooms_are_switched(chats):
    chat = chats()
    read_to_the_end(chat)
    for room in "one", "two":
        chat.server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "open"})
    chat.wait_for("[data-room-item=one]")
    chat.scroll(-900)
    chat.wait(f"!{chat.at_bottom()}")
    # The rows that come into sight are drawn in the next frames.
    chat.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0])))")
    chat.wait("document.querySelector('[data-timeline]').dataset.scrolling === undefined")
    key, top = chat.reading(), chat.top(chat.reading())

    def assert_place():
        chat.wait(f"document.querySelector(`[data-key='{key}']`)")
        chat.wait_live()
        assert chat.reading() == key and abs(chat.top(key) - top) < 2

    chat.driver.refresh()
    assert_place()
    chat.wait_for("[data-room-item=one]")
    chat.click("[data-room-item=one] a")
    chat.wait("document.querySelector('#room-title').textContent === 'one'")
    chat.click("[data-room-item=lobby] a")
    assert_place()
    chat.click("[data-room-item=two] a")
    chat.wait("document.querySelector('#room-title').textContent === 'two'")
    chat.driver.back()
    chat.wait("document.querySelector('#room-title').textContent === 'lobby'")
    assert_place()


# Connections that die without a word


def test_silent_socket_is_replaced_within_a_minute(chats, proxy):
    chat = Chat(chats().driver, proxy)
    chat.open()
    chats.server.send("Before", user="bob")
    chat.wait_text("Before")
    # The page's clock runs faster, so that the test need not wait.
    chat.run("const now = performance.now.bind(performance); performance.now = () => now() * 20")
    proxy.silence()
    chats.server.send("Missed", user="bob")
    chat.wait_text("Missed")
    chat.wait_live()


@pytest.mark.parametrize("event", ["window.dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"])
def test_silent_socket_is_replaced_at_once_when_the_reader_comes_back(chats, proxy, event):
    chat = Chat(chats().driver, proxy)
    chat.open()
    proxy.silence()
    chats.server.send("Missed", user="bob")
    chat.run("window.began = performance.now();" + event)
    chat.wait_text("Missed")
    # Less than the time after which the page asks by itself.
    assert chat.run("return performance.now() - window.began") < 15_000


def test_message_is_posted_again_when_no_answer_comes(chats, proxy):
    chat = Chat(chats().driver, proxy)
    chat.open()
    # The limit of a request, without the wait.
    chat.run("const later = setTimeout; setTimeout = (work, time) => later(work, time === 30000 ? 500 : time)")
    proxy.silence()
    chat.type("Once")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    assert [message["text"] for message in chats.server.request("GET", "/v1/rooms/lobby/messages")["messages"]] == ["Once"]


def test_page_opens_over_a_silent_connection(chats, proxy):
    chat = Chat(chats().driver, proxy)
    chats.server.send("Stored", user="bob")
    chat.open()
    chat.wait("navigator.serviceWorker.ready.then((worker) => worker.active.state === 'activated')")
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: stored(chat))
    chat.driver.get("about:blank")
    proxy.silence()
    chat.open(wait=False)
    chat.wait_text("Stored")


def test_message_that_an_earlier_version_of_the_page_has_not_sent_is_sent(chats):
    chat = chats()
    chat.driver.get(f"{chats.server.url}/docs")
    chat.driver.execute_async_script("""
        const [done] = arguments;
        localStorage.setItem("backscroll.written", "1");
        const request = indexedDB.open("backscroll", 1);
        request.onupgradeneeded = () => {
            for (const name of ["windows", "outbox", "rooms"]) request.result.createObjectStore(name);
            const send = { draft: { client_message_id: "a1", text: "written long ago" }, at: Date.now(), order: 1 };
            request.transaction.objectStore("outbox").put(send, ["alice", "lobby", "a1"]);
        };
        request.onsuccess = () => (request.result.close(), done());
    """)
    chat.open(room="another")
    WebDriverWait(chat.driver, DEADLINE, 0.1).until(
        lambda _: [message["text"] for message in chats.server.request("GET", "/v1/rooms/lobby/messages?user=bob")["messages"]]
        == ["written long ago"])
