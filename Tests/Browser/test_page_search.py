"""The search on the chat page: its keys, its hits with the words marked, the way to a message, and back."""

from conftest import fill
from selenium.webdriver.common.keys import Keys


def search(chat, words):
    field = chat.wait_for("#search-words")
    field.clear()
    field.send_keys(words, Keys.ENTER)


def hits(chat):
    return chat.run("return [...document.querySelectorAll('#search-hits .found')].map(item => item.querySelector('span[dir]').textContent)")


def press(chat, *keys):
    chat.driver.switch_to.active_element.send_keys(*keys)


def test_slash_searches_the_room_and_enter_goes_to_the_message(chats):
    server = chats.server
    server.send("정기회의는 3시", user="bob")
    fill(server, 80)
    server.send("회의 note", user="bob")
    alice = chats().open(room="lobby", at=82)
    alice.wait_for("[data-seq='82']")
    alice.run("document.querySelector('[data-timeline]').focus()")
    press(alice, "/")
    search(alice, "회의")
    alice.wait("document.activeElement.matches('#search-hits .found')")
    assert hits(alice) == ["회의 note", "정기회의는 3시"]
    assert alice.run("return [...document.querySelectorAll('#search-hits mark')].map(mark => mark.textContent)") == ["회의", "회의"]
    assert alice.run("return document.querySelector('#search-hits small').textContent") == "today · lobby"
    assert alice.violations() == []
    press(alice, Keys.ARROW_DOWN)
    alice.wait("document.activeElement.textContent.includes('정기')")
    press(alice, Keys.ENTER)
    alice.wait_for("[data-seq='1'][data-found]")
    assert alice.is_in_sight("[data-seq='1']")
    alice.click("[data-return]")
    alice.wait_for("[data-seq='82']")
    assert alice.is_in_sight("[data-seq='82']")


def test_hits_have_no_marks_of_formatting(chats):
    chats.server.send("> **정기회의**는 snake_case_name, `code` and _a note_", user="bob")
    alice = chats().open(room="lobby")
    for words, marked in ("회의 note", ["회의", "note"]), ("snake", ["snake"]), ('"code` and _a"', ["code and a"]):
        alice.click("#search-room")
        search(alice, words)
        alice.wait("document.activeElement.matches('#search-hits .found')")
        assert hits(alice) == ["정기회의는 snake_case_name, code and a note"]
        assert alice.run("return [...document.querySelectorAll('#search-hits mark')].map(mark => mark.textContent)") == marked
        press(alice, Keys.ESCAPE)


def test_search_of_all_rooms_opens_the_room_and_back_returns(chats):
    server = chats.server
    for room in ("den", "attic"):
        server.request("PUT", f"/v1/rooms/{room}?user=alice", {"title": f"The {room}"})
        server.send(f"A note in the {room}, {'long ' * 60} and the end", room=room, user="alice")
    alice = chats().open(room="lobby")
    alice.wait_for("[data-room-item='den']")
    alice.click("#search")
    assert not alice.run("return document.querySelector('#search-here').checked")
    search(alice, '"a note" end')
    alice.wait("document.querySelectorAll('#search-hits .found').length === 2")
    assert all(len(text) < 200 and text.endswith("…") for text in hits(alice))
    alice.click("#search-hits li:last-child .found")
    alice.wait("document.querySelector('#room-title').textContent === 'The den'")
    alice.wait_for("[data-seq='1'][data-found]")
    alice.driver.back()
    alice.wait("document.querySelector('#room-title').textContent !== 'The den'")


def test_the_room_bounds_a_search_unless_the_reader_says_otherwise(chats):
    for room in ("lobby", "den"):
        chats.server.send("A note", room=room, user="alice")
    alice = chats().open(room="lobby")
    alice.wait_for("[data-seq='1']")
    press(alice, Keys.CONTROL, "k")
    search(alice, "note")
    alice.wait("document.querySelectorAll('#search-hits .found').length === 1")
    alice.click("#search-here")
    search(alice, "note")
    alice.wait("document.querySelectorAll('#search-hits .found').length === 2")


def test_the_list_of_rooms_searches_all_of_them(chats):
    chats.server.send("A note", room="den", user="alice")
    alice = chats().open(room="", wait=False)
    alice.wait_for("[data-room-item='den']")
    press(alice, "/")
    alice.wait_for("#search-dialog[open]")
    assert not alice.run("return document.querySelector('#search-in').checkVisibility()")
    search(alice, "note")
    alice.wait("document.activeElement.matches('#search-hits .found')")
    press(alice, Keys.ENTER)
    alice.wait_for("[data-seq='1'][data-found]")


def test_search_loads_further_hits(chats):
    for _ in range(31):
        chats.server.send("A note", user="bob")
    alice = chats().open(room="lobby", at=31)
    alice.click("#search-room")
    search(alice, "note")
    alice.wait("document.querySelectorAll('#search-hits .found').length === 30")
    alice.click("#search-more")
    alice.wait("document.querySelectorAll('#search-hits .found').length === 31")
    alice.wait("document.activeElement === document.querySelector('#search-hits li:last-child .found')")
    assert not alice.run("return document.querySelector('#search-more').checkVisibility()")


def test_search_says_what_is_wrong_and_that_nothing_is_found(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open(room="lobby")
    alice.wait_for("[data-seq='1']")
    alice.click("#search-room")
    search(alice, '"open')
    alice.wait("document.querySelector('#search-error').textContent.includes('At least one must occur')")
    search(alice, "nowhere")
    alice.wait("document.querySelector('#search-state').textContent === 'No message has these words.'")
    assert not hits(alice)
