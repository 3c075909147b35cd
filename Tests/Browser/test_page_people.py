"""Names, pictures and receipts on the chat page, and two people on three devices who use all of it."""

import json

import pytest
from selenium.webdriver.common.keys import Keys
from test_page_blocks import FOLDED, block, choose

TICKS = "[...document.querySelectorAll('.mine .tick')].map((tick) => tick.getAttribute('aria-label')).join()"


def counts(chat):
    """Returns an expression of the numbers beside the messages, by text."""
    return ("JSON.stringify([...document.querySelectorAll('.row')].map((row) => "
            "[row.querySelector('.text').textContent, row.querySelector('.unread-count')?.textContent ?? '']))")


def wait_counts(chat, **expected):
    chat.wait(f"{counts(chat)} === {json.dumps(json.dumps([list(pair) for pair in expected.items()], separators=(',', ':')))}")


def name(chat, name, picture=""):
    """Sets the name and the picture of the page's user."""
    chat.find("#me").click()
    chat.wait("document.querySelector('#profile-dialog').open")
    for selector, text in ("#profile-name", name), ("#profile-avatar", picture):
        chat.find(selector).clear()
        chat.find(selector).send_keys(text)
    chat.find("#profile-dialog .primary").click()
    chat.wait("!document.querySelector('#profile-dialog').open")


def set_counts(chat):
    chat.find("#members").click()
    chat.wait("document.querySelectorAll('#member-list li').length > 0")
    chat.find("#unread-counts").click()
    chat.find("#members-dialog [data-cancel]").click()


def make(server, *members, room="den"):
    server.request("PUT", f"/v1/rooms/{room}?user=alice", {"visibility": "private", "title": "The den"})
    for user in members:
        server.request("PUT", f"/v1/rooms/{room}/members/{user}?user=alice", {"role": "member"})


def test_name_and_picture_are_set_and_shown_everywhere(chats):
    server = chats.server
    make(server, "bob")
    server.send("Hello", room="den", user="bob")
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    bob.wait("document.querySelector('#me').textContent.endsWith('bob')")
    bob.find("#me").click()
    bob.wait("document.querySelector('#profile-dialog').open")
    bob.find("#profile-name").send_keys("Bob Kim")
    assert bob.find("#profile-preview").text == "BK"
    assert bob.violations() == []
    bob.find("#profile-avatar").send_keys("ftp://example.com/bob.png")
    bob.find("#profile-dialog .primary").click()
    bob.wait("document.querySelector('#profile-error').textContent.includes('avatar')")
    bob.find("#profile-avatar").clear()
    bob.find("#profile-avatar").send_keys(f"{server.url}/page/icon.svg")
    bob.find("#profile-dialog .primary").click()
    bob.wait("document.querySelector('#me [dir]').textContent === 'Bob Kim' && document.querySelector('#me small').textContent === 'bob'")
    bob.wait("document.querySelector('#me .avatar').textContent === '' && document.querySelector('#me img').naturalWidth > 0")
    # Who has the page open asks again after a minute.
    alice.driver.refresh()
    alice.wait("document.querySelector('.theirs .sender')?.textContent === 'Bob Kim'")
    assert alice.find(".theirs .sender").get_attribute("title") == "bob"
    alice.wait("document.querySelector('.theirs .avatar img').naturalWidth > 0")
    alice.wait("document.querySelector('[data-room-item=den] .last').textContent === 'Bob Kim: Hello'")
    bob.find("[data-composer]").send_keys("I am")
    alice.wait("document.querySelector('[data-typing]').textContent === 'Bob Kim is typing…'")
    alice.click(".theirs [data-reply]")
    assert alice.find("#context-text b").text == "Reply to Bob Kim"
    alice.type("Hi")
    bob.wait_text("Hi")
    alice.wait("document.querySelector('.mine .readers')?.textContent === 'Read by Bob Kim'")
    alice.find("#members").click()
    alice.wait_for("[aria-label='Write to Bob Kim']")
    assert alice.violations() == []
    alice.find("#members-dialog [data-cancel]").click()
    # The browser has kept the names, and shows them at once.
    alice.driver.refresh()
    alice.wait("document.querySelector('.theirs .sender')?.textContent === 'Bob Kim'")
    name(bob, "")
    bob.wait("document.querySelector('#me').innerText.trim().endsWith('bob') && !document.querySelector('#me img')")


def test_picture_that_cannot_be_loaded_leaves_the_letters(chats):
    server = chats.server
    server.request("PUT", "/v1/profiles/bob?user=bob", {"avatar": f"{server.url}/nothing.png"})
    server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait("performance.getEntriesByName(`${location.origin}/nothing.png`).length")
    alice.wait("!document.querySelector('.theirs .avatar img') && document.querySelector('.theirs .avatar').textContent === 'B'")
    alice.type("I see letters")
    alice.wait_text("I see letters")
    assert not alice.run("return document.querySelector('img[src$=\"nothing.png\"]')")


def test_reaction_names_those_who_reacted_once_it_is_pointed_at(chats):
    server = chats.server
    server.send("Hello")
    server.request("PUT", "/v1/profiles/bob?user=bob", {"name": "Bob Kim"})
    server.request("PUT", "/v1/rooms/lobby/messages/1/reactions/%F0%9F%91%8D?user=bob")
    alice = chats().open()
    alice.wait_for("[data-reaction]")
    alice.run("document.querySelector('[data-reaction]').dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))")
    alice.wait("document.querySelector('[data-reaction]').title === 'Bob Kim'")


def test_names_with_spaces_are_completed_and_mentioned(chats):
    server = chats.server
    make(server, "bob", "u17", "u18")
    for user, known_as in ("u17", "김 철수"), ("u18", "bob"):
        server.request("PUT", f"/v1/profiles/{user}?user={user}", {"name": known_as})
    alice = chats().open(room="den")
    for typed, user, text in ("@ㄱ", "u17", "@김 철수 "), ("@u17", "u17", "@김 철수 "), ("@U18", "u18", "@u18 "):
        alice.find("[data-composer]").send_keys(typed)
        alice.wait("document.querySelectorAll('#completion li').length === 1")
        assert user in alice.find("#completion").text
        alice.find("[data-composer]").send_keys(Keys.ENTER)
        assert alice.find("[data-composer]").get_attribute("value") == text
        alice.find("[data-composer]").send_keys("!", Keys.ENTER)
        alice.wait_text(f"{text}!")
    alice.type("@김 철수, @bob. and @u17x")
    alice.wait_text("@김 철수, @bob. and @u17x")
    messages = server.request("GET", "/v1/rooms/den/messages?user=alice&limit=10")["messages"]
    assert [message.get("mentions") for message in messages] == [["u17"], ["u17"], ["u18"], ["u17", "bob"]]


def test_ticks_tell_some_and_all_who_have_read(chats):
    server = chats.server
    make(server, "bob", "carol", "dave", "erin", "frank")
    for text in "First", "Second":
        server.send(text, room="den")
    alice = chats().open(room="den")
    alice.wait(f"{TICKS} === 'Sent'")
    for user in "bob", "carol", "dave", "erin", "frank":
        server.request("PUT", f"/v1/rooms/den/read?user={user}", {"seq": 1})
    alice.wait(f"{TICKS} === 'Read by all,Sent'")
    alice.wait("/^Read by \\w+, \\w+, \\w+, and 2 more$/.test(document.querySelector(\"[data-seq='1'] .readers\")?.textContent)")
    server.request("PUT", "/v1/rooms/den/read?user=bob", {"seq": 2})
    alice.wait(f"{TICKS} === 'Read by all,Read by some'")
    assert alice.find("[data-seq='2'] .readers").text == "Read by bob"
    assert alice.violations() == []


@pytest.fixture
def five(chats):
    """Alice, on two devices, in a room of five members, with the numbers switched on."""
    make(chats.server, "bob", "carol", "dave", "erin")
    alice, phone = chats().open(room="den"), chats(1).open(room="den")
    for device in alice, phone:
        set_counts(device)
    return alice, phone


def test_number_of_members_who_have_not_read_follows_the_members(five, chats):
    server, (alice, phone) = chats.server, five
    alice.type("one")
    for device in alice, phone:
        wait_counts(device, one="4")
    server.request("PUT", "/v1/rooms/den/read?user=bob", {"seq": 1})
    # A mark that is told by another device of bob counts once.
    server.request("PUT", "/v1/rooms/den/read?user=bob", {"seq": 1})
    for device in alice, phone:
        wait_counts(device, one="3")
    server.send("two", room="den", user="bob")
    # Alice has read it, on both devices.
    for device in alice, phone:
        wait_counts(device, one="3", two="3")
    server.request("DELETE", "/v1/rooms/den/members/carol?user=carol")
    server.request("DELETE", "/v1/rooms/den/members/dave?user=alice")
    server.request("PUT", "/v1/rooms/den/members/frank?user=alice", {"role": "member"})
    server.request("PUT", "/v1/rooms/den/read?user=frank", {"seq": 2})
    # Nothing tells who joins and leaves: the page asks each half a minute.
    for device in alice, phone:
        device.run("const now = performance.now.bind(performance); performance.now = () => now() + 31000")
        wait_counts(device, one="1", two="1")
    server.request("PUT", "/v1/rooms/den/read?user=erin", {"seq": 2})
    for device in alice, phone:
        wait_counts(device, one="", two="")
    alice.find("#members").click()
    alice.wait("document.querySelector('#unread-counts').checked")
    alice.find("[aria-label='Remove frank']").click()
    alice.wait_for("#question-yes").click()
    alice.wait("document.querySelectorAll('#member-list li').length === 3")
    alice.find("#members-dialog [data-cancel]").click()
    alice.type("three")
    wait_counts(alice, one="", two="", three="2")
    # The choice is kept; the other rooms show no numbers.
    alice.driver.refresh()
    alice.wait_live()
    wait_counts(alice, one="", two="", three="2")
    alice.open(room="lobby")
    server.send("Elsewhere")
    wait_counts(alice, Elsewhere="")


def test_app_switches_the_numbers_on_by_the_data_of_the_room(chats):
    make(chats.server, "bob")
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"data": {"unread_counts": True}})
    alice = chats().open(room="den")
    alice.type("one")
    wait_counts(alice, one="1")
    set_counts(alice)
    wait_counts(alice, one="")


def test_two_people_on_three_devices(chats):
    server = chats.server
    make(server, "bob", "carol")
    alice, phone, bob = chats().open(room="den"), chats(1), chats(2).open("bob", room="den")
    phone.driver.set_window_size(390, 844)
    phone.open(room="den")
    name(bob, "Bob Kim", f"{server.url}/page/icon.svg")
    for device in alice, phone:
        set_counts(device)

    # Alice mentions Bob by his name, who has it marked. Only carol has not read it.
    alice.find("[data-composer]").send_keys("Hello @b")
    alice.wait("document.querySelector('#completion [dir]')?.textContent === 'Bob Kim'")
    alice.find("[data-composer]").send_keys(Keys.ENTER, "!", Keys.ENTER)
    bob.wait_for("[data-seq='1'].mentions-me")
    for device in alice, phone:
        device.wait(f"{TICKS} === 'Read by some'")
        wait_counts(device, **{"Hello @Bob Kim !": "1"})
        device.wait("document.querySelector('.readers')?.textContent === 'Read by Bob Kim'")
    server.request("PUT", "/v1/rooms/den/read?user=carol", {"seq": 1})
    for device in alice, phone:
        device.wait(f"{TICKS} === 'Read by all'")

    # Bob answers. Both devices of Alice show his name and picture.
    bob.find("[data-composer]").send_keys("An insult")
    for device in alice, phone:
        device.wait("document.querySelector('[data-typing]').textContent === 'Bob Kim is typing…'")
    bob.find("[data-composer]").send_keys(Keys.ENTER)
    for device in alice, phone:
        device.wait_text("An insult")
        device.wait("document.querySelector('.theirs .sender').textContent === 'Bob Kim'")
    alice.wait("document.querySelector('.theirs .avatar img').naturalWidth > 0")

    # A direct room, which is one on all devices.
    alice.find("#members").click()
    alice.wait_for("[aria-label='Write to Bob Kim']")
    alice.run("document.querySelector(\"[aria-label='Write to Bob Kim']\").click()")
    alice.wait("document.querySelector('#room-title').textContent === 'Bob Kim'")
    alice.wait_live()
    alice.type("Between us")
    bob.wait("[...document.querySelectorAll('[data-room-item^=\"@\"] .name')].some(({ textContent }) => textContent === 'alice')")
    bob.find("[data-room-item^='@'] a").click()
    bob.wait_text("Between us")
    bob.wait_live()
    alice.wait(f"{TICKS} === 'Read by all'")

    # Alice reports and blocks on the phone. All devices fold, and the direct room refuses Bob.
    choose(phone, 2, "report")
    phone.wait_for("#report-dialog[open]")
    phone.find("#report-dialog [value=abuse]").click()
    phone.find("#report-dialog .danger").click()
    phone.wait("document.querySelector('#context-text').textContent.includes('is reported')")
    block(phone, 2)
    bob.type("Why?")
    bob.wait_for(".row[data-state=failed]")
    assert bob.find(".failed span").text == "You cannot write to this user."
    alice.open(room="den")
    alice.wait_for("[data-seq='2'].folded")
    assert alice.find("[data-seq='2'] .bubble").text == f"{FOLDED} Show"
    choose(alice, 2, "block")
    for device in alice, phone:
        device.wait_text("An insult")
    bob.click("[data-retry]")
    bob.wait("!document.querySelector('.row[data-state=failed]')")
