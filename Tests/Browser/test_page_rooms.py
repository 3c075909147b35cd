"""The chat page at `/`: the list of rooms, the end of a room, bans, questions, and the browser's history."""

import datetime
import pathlib
import shutil
import subprocess

import pytest
from conftest import BACKSCROLL, DEADLINE, Chat
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

JOINED = "document.querySelector('#room-title').textContent === '{}'"


def owned_room(server, room, owner="bob", members=("alice",)):
    """Makes an open room with an owner and members."""
    server.request("PUT", f"/v1/rooms/{room}?user={owner}", {"visibility": "open"})
    for member in members:
        server.request("PUT", f"/v1/rooms/{room}/members/{member}?user={owner}", {"role": "member"})


def wait_title(chat, title):
    WebDriverWait(chat.driver, DEADLINE, 0.05).until(lambda driver: driver.title == title, message=title)


# Bans


def test_user_who_may_not_send_goes_on_reading_and_is_told_why(chats):
    server = chats.server
    owned_room(server, "plans")
    chat = chats().open(room="plans")
    until = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    server.request("PUT", "/v1/rooms/plans/bans/alice?user=bob", {"scope": "send", "until": until, "reason": "Too many pictures"})
    chat.find("[data-composer]").send_keys("H")
    ban = chat.wait_for("#ban")
    assert "Too many pictures" in ban.text
    assert chat.run("return Date.parse(document.querySelector('#ban time').dateTime)") == chat.run("return Date.parse(arguments[0])", until)
    assert chat.run("return document.querySelector('#ban time').textContent") not in ("", until)
    assert chat.find("#composer").is_displayed() and not chat.find("#ended").is_displayed()
    server.send("Read this", room="plans", user="bob")
    chat.wait_text("Read this")
    # What is sent all the same fails, and is accepted after the ban.
    chat.type("ello")
    chat.wait_for(".row[data-state=failed]")
    assert ban.is_displayed()
    server.request("DELETE", "/v1/rooms/plans/bans/alice?user=bob")
    chat.click("[data-retry]")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    # The push may overtake the answer, which ends the ban.
    chat.wait("document.querySelector('#ban').hidden")


def test_user_who_may_not_read_is_told_why(chats):
    server = chats.server
    owned_room(server, "plans")
    chat = chats().open(room="plans")
    server.request("PUT", "/v1/rooms/plans/bans/alice?user=bob", {"scope": "all", "reason": "Too many pictures"})
    assert "Too many pictures" in chat.wait_for("#ended").text
    assert not chat.find("#composer").is_displayed() and not chat.find("#ban").is_displayed()


# The end of a session


def test_unsent_messages_wait_for_a_new_token(browsers, tokens):
    server = tokens.server
    chat = Chat(browsers(0), server)

    def sign_in():
        chat.wait("document.querySelector('#sign-in-label').textContent === 'Token'")
        chat.wait_for("#sign-in-value").send_keys(tokens.make("alice"), Keys.ENTER)

    chat.driver.get(f"{server.url}/?room=lobby")
    sign_in()
    chat.wait_live()
    server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    for text in "First", "Second":
        chat.type(text)
    chat.wait("document.querySelectorAll('.row').length === 2")
    # The server no longer accepts the token.
    secret = pathlib.Path(server.flags[server.flags.index("--jwt-secret-file") + 1])
    secret.write_text("another secret of more than thirty-two bytes")
    server.start()
    chat.wait("document.querySelector('#sign-in-error').textContent.includes('session has ended')")
    server.stop()
    secret.write_text(tokens.secret)
    server.start()
    sign_in()
    chat.wait("document.querySelectorAll('.row.mine[data-state=stored]').length === 2")
    assert chat.texts() == ["First", "Second"]
    chat.run("sessionStorage.clear()")
    chat.driver.get("about:blank")


# The end of a room


def test_ended_room_says_why_at_the_top_and_nothing_of_a_connection(chats):
    server = chats.server
    owned_room(server, "plans")
    server.send("Secret", room="plans", user="bob")
    chat = chats().open(room="plans")
    server.request("DELETE", "/v1/rooms/plans?user=bob")
    ended = chat.wait_for("#ended")
    assert "deleted" in ended.text
    for selector in "[data-to-latest]", "#connection", "[data-online]", "#mute", "#search-room", "#members", "#composer":
        assert not chat.find(selector).is_displayed()
    assert ended.location["y"] < chat.find("[data-timeline]").location["y"]


# Questions before what cannot be undone


def test_messages_are_deleted_after_a_question(chats):
    chat = chats().open()
    chat.type("Precious")
    chat.wait("document.querySelector('.row.mine[data-state=stored]')")
    chat.choose(".mine", "delete")
    assert "Precious" in chat.wait_for("#question-text").text
    chat.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    chat.wait("!document.querySelector('#question-dialog').open")
    chat.choose(".mine", "delete")
    chat.wait_for("#question-dialog [value=cancel]").click()
    chat.wait("!document.querySelector('#question-dialog').open")
    chat.type("After")
    chat.wait("document.querySelectorAll('.row.mine[data-state=stored]').length === 2")
    assert chat.texts() == ["Precious", "After"]
    chat.choose(".mine", "delete")
    chat.wait_for("#question-yes")
    # The next question is asked before the page is told of the end of this one.
    chat.run(
        "document.querySelector('#question-dialog [value=cancel]').click();"
        "document.querySelector('.mine [data-menu]').click(); document.querySelector('[data-menu-item=delete]').click()")
    chat.wait_for("#question-yes").click()
    chat.wait_for(".row[data-state=deleted]")


def test_members_are_removed_and_rooms_left_after_a_question(chats):
    server = chats.server
    owned_room(server, "plans", owner="alice", members=("bob", "carol"))
    server.request("PUT", "/v1/rooms/plans/members/bob?user=alice", {"role": "owner"})
    chat = chats().open(room="plans")
    chat.click("#members")
    chat.wait_for("#member-list [aria-label='Remove carol']").click()
    chat.wait_for("#question-dialog [value=cancel]").click()
    chat.find("#member-list [aria-label='Remove carol']").click()
    chat.wait_for("#question-yes").click()
    chat.wait("!document.querySelector('#member-list').textContent.includes('carol')")
    chat.click("#leave")
    chat.wait_for("#question-dialog [value=cancel]").click()
    users = [member["user"] for member in server.request("GET", "/v1/rooms/plans/members?user=bob")["members"]]
    assert users == ["alice", "bob"]
    chat.click("#leave")
    chat.wait_for("#question-yes").click()
    chat.wait_for("#nothing")


def test_members_dialog_offers_what_the_user_may_do(chats):
    server = chats.server
    owned_room(server, "plans", members=("carol",))
    chat = chats()

    def offers():
        chat.click("#members")
        chat.wait("document.querySelectorAll('#member-list li').length")
        shown = [selector for selector in ("#add-member", "#leave") if chat.find(selector).is_displayed()]
        chat.click("#members-dialog [data-cancel]")
        return shown

    chat.open(room="plans")
    chat.wait_for("#join")
    assert offers() == []
    chat.click("#join")
    chat.wait("document.querySelector('#join').hidden")
    assert offers() == ["#leave"]
    server.request("PUT", "/v1/rooms/plans/members/alice?user=bob", {"role": "owner"})
    chat.driver.refresh()
    chat.wait("!document.querySelector('#add-member').hidden")
    assert offers() == ["#add-member", "#leave"]
    server.request("DELETE", "/v1/rooms/plans/members/alice?user=bob")
    chat.wait("document.querySelector('#leave').hidden")
    assert offers() == []


def test_new_room_says_which_ids_are_allowed(chats):
    chat = chats().open()
    chat.click("[data-new-room]")
    field = chat.wait_for("#new-room-id")
    field.send_keys("_garden")
    assert not chat.run("return arguments[0].validity.valid", field)
    assert "begins with a letter or digit" in field.get_attribute("title")
    chat.driver.switch_to.active_element.send_keys(Keys.ESCAPE)


# The list of rooms


def test_first_visit_asks_for_the_list_alone(chats):
    server = chats.server
    for number in range(30):
        owned_room(server, f"room{number}")
    chat = chats().open(room="room0")
    chat.wait("document.querySelectorAll('[data-room-item]').length === 30")
    chat.run("document.querySelector('[data-room-item=room7] a').click()")
    chat.wait(JOINED.format("room7"))
    chat.wait_live()
    asked = chat.run(
        "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"
        ".filter((path) => /^\\/v1\\/rooms\\/room\\d+$/.test(path))")
    assert set(asked) <= {"/v1/rooms/room0", "/v1/rooms/room7"}


def test_new_room_is_joined_by_its_first_message(chats):
    chat = chats().open(room="garden")
    chat.wait_for("#join")
    # An id that nobody has used may be mistyped.
    assert not chat.run("return document.querySelector('[data-room-item=garden]')")
    chat.type("Hello")
    chat.wait_for("[data-room-item=garden]")
    chat.wait("document.querySelector('#join').hidden")


def test_mistyped_room_is_not_listed(chats):
    owned_room(chats.server, "garden")
    chat = chats().open(room="gardne")
    chat.wait_for("#join")
    chat.wait_for("[data-room-item=garden]")
    chat.click("[data-room-item=garden] a")
    chat.wait(JOINED.format("garden"))
    chat.wait_live()
    assert chat.run("return [...document.querySelectorAll('[data-room-item]')].map(({ dataset }) => dataset.roomItem)") == ["garden"]


def test_url_with_a_wrong_room_is_refused_with_the_rule(chats):
    chat = chats()
    chat.driver.get(f"{chat.server.url}/?user=alice&room=the%20garden")
    text = chat.wait_for("#no-rooms").text
    assert "the garden" in text and "letters, digits" in text


def test_title_counts_the_unread_messages_of_all_rooms_without_blinking(chats):
    server = chats.server
    for room in "one", "two":
        owned_room(server, room)
        for number in range(3):
            server.send(f"Number {number}", room=room, user="bob")
    server.request("PUT", "/v1/rooms/one/read?user=alice", {"seq": 3})
    chat = chats().open(room="one")
    wait_title(chat, "(3) one – Backscroll")
    chat.run("""
        window.titles = new Set();
        new MutationObserver(() => window.titles.add(document.title)).observe(document.querySelector("title"), { childList: true });
    """)
    server.send("One more", room="two", user="bob")
    wait_title(chat, "(4) one – Backscroll")
    server.send("Edited", room="two", user="bob")
    wait_title(chat, "(5) one – Backscroll")
    assert chat.run("return [...window.titles]") == ["(4) one – Backscroll", "(5) one – Backscroll"]


def test_unread_messages_beyond_the_server_count_are_shown_as_more(chats):
    server = chats.server
    owned_room(server, "busy")
    lines = "".join(
        f'{{"room":"busy","sender":"bob","created_at":"2026-01-01T00:00:00Z","text":"Number {number}"}}\n' for number in range(1, 1501))
    server.stop()
    file = server.database.with_name("busy.jsonl")
    file.write_text(lines)
    subprocess.run([BACKSCROLL, "import", "--database", server.database, file], check=True, capture_output=True)
    server.start()
    chat = chats().open(room="busy")
    chat.wait_for("[data-room-item=busy] .badge")
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '1000'")
    # What comes into sight is marked as read, which the server's limited number does not show.
    chat.scroll(2000)
    WebDriverWait(chat.driver, DEADLINE).until(lambda _: server.request("GET", "/v1/rooms/busy?user=alice")["read"] > 20)
    assert chat.find("[data-to-latest] .badge").text == "1,000+"
    assert chat.find("[data-room-item=busy] .badge").text == "1,000+"
    wait_title(chat, "(1,000+) busy – Backscroll")
    # The answer to a mark says when the number is below.
    chat.click("[data-to-latest]")
    chat.wait("document.querySelector('[data-timeline]').dataset.unread === '0'")


# The browser's history


def test_history_has_an_entry_for_each_room_that_was_opened(chats):
    for room in "one", "two":
        owned_room(chats.server, room)
    chat = chats()
    # A tab of its own, because a browser keeps 50 entries at most and other tests have used this one.
    before = chat.driver.current_window_handle
    chat.driver.switch_to.new_window("tab")
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait_for("[data-room-item=one]")
    entries = chat.run("return history.length")
    chat.click("[data-room-item=one] a")
    chat.wait(JOINED.format("one"))
    chat.click("[data-room-item=one] a")
    chat.click("[data-room-item=one] a")
    assert chat.run("return history.length") == entries + 1
    # The way back to the list is that of the browser.
    chat.click("#back")
    chat.wait_for("#nothing")
    assert "room=" not in chat.driver.current_url
    chat.driver.forward()
    chat.wait(JOINED.format("one"))
    chat.click("[data-room-item=two] a")
    chat.wait(JOINED.format("two"))
    chat.click("#back")
    chat.wait_for("#nothing")
    assert chat.run("return history.length") == entries + 2
    chat.driver.close()
    chat.driver.switch_to.window(before)


# Blocked site data


@pytest.fixture
def blocked(chats):
    """A page in a browser that blocks site data."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1200,800":
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"profile.default_content_setting_values.cookies": 2})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield Chat(driver, chats.server)
    driver.quit()


def test_page_works_where_site_data_is_blocked(blocked):
    blocked.open()
    with pytest.raises(Exception, match="SecurityError|denied"):
        blocked.run("sessionStorage.length")
    blocked.type("Not stored")
    blocked.wait("document.querySelector('.row.mine[data-state=stored]')")
    blocked.find("[data-composer]").send_keys("A draft")
    blocked.click("#back")
    blocked.wait_for("#nothing")
    blocked.wait_for("[data-room-item=lobby] a").click()
    blocked.wait_text("Not stored")
    assert blocked.find("[data-composer]").get_attribute("value") == "A draft"
