"""Blocked users, reports, mentions, direct rooms and receipts on the chat page."""

import pytest
from selenium.webdriver.common.keys import Keys

FOLDED = "Message of a blocked user."


def open_menu(chat, seq):
    """Opens the menu of a message by its keyboard shortcut."""
    chat.run("document.querySelector(arguments[0]).dispatchEvent(new KeyboardEvent('keydown', { key: 'ContextMenu', bubbles: true }))",
             f"[data-seq='{seq}']")
    chat.wait("document.querySelector('#menu').open")


def choose(chat, seq, name):
    open_menu(chat, seq)
    chat.find(f"[data-menu-item={name}]").click()


def block(chat, seq):
    choose(chat, seq, "block")
    chat.wait_for("#question-dialog[open]")
    chat.find("#question-yes").click()
    chat.wait_for(f"[data-seq='{seq}'].folded")


@pytest.fixture
def alice(chats):
    """Alice in a room in which mallory and bob have written."""
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "open"})
    chats.server.send("An insult", room="den", user="mallory")
    chats.server.request("POST", "/v1/rooms/den/messages?user=bob", {"text": "An answer", "reply_to": 1})
    chats.server.send("Another insult", room="den", user="mallory")
    chat = chats().open(room="den")
    chat.wait_text("Another insult")
    chat.wait("document.querySelector('[data-room-item=den] .last')?.textContent.includes('Another insult')")
    return chat


def test_messages_of_blocked_users_are_folded_and_can_be_shown(alice):
    block(alice, 3)
    alice.wait("document.querySelectorAll('.row.folded').length === 2")
    assert alice.find("[data-seq='1'] .bubble").text == f"{FOLDED} Show"
    assert "insult" not in alice.find("#messages").text
    assert alice.find("[data-seq='2'] .quote").text == FOLDED
    alice.wait(f"document.querySelector('[data-room-item=den] .last').textContent === '{FOLDED}'")
    assert alice.violations() == []
    alice.find("[data-seq='1'] [data-show]").click()
    alice.wait_text("An insult")
    assert alice.run("return document.querySelectorAll('.row.folded').length") == 1
    choose(alice, 3, "show")
    alice.wait_text("Another insult")
    # A reload folds them again, and a message that comes is folded at once.
    alice.driver.refresh()
    alice.wait_live()
    alice.wait("document.querySelectorAll('.row.folded').length === 2")
    alice.server.send("The last insult", room="den", user="mallory")
    alice.wait("document.querySelectorAll('.row.folded').length === 3")
    choose(alice, 1, "block")
    alice.wait("document.querySelectorAll('.row.folded').length === 0")


def test_block_is_known_to_all_windows_of_the_user(alice, chats):
    other = chats(1).open(room="den")
    other.wait("document.querySelector('[data-room-item=den]')")
    block(alice, 1)
    other.wait("document.querySelectorAll('.row.folded').length === 2")
    choose(other, 1, "block")
    alice.wait("document.querySelectorAll('.row.folded').length === 0")


def test_message_is_reported_with_a_reason(alice):
    choose(alice, 1, "report")
    alice.wait_for("#report-dialog[open]")
    assert alice.violations() == []
    # Without a reason nothing is sent.
    alice.find("#report-dialog .danger").click()
    assert alice.run("return document.querySelector('#report-dialog').open")
    alice.find("#report-dialog [value=abuse]").click()
    alice.find("#report-note").send_keys("It hurts")
    alice.find("#report-dialog .danger").click()
    alice.wait("document.querySelector('#context-text').textContent.includes('is reported')")
    choose(alice, 3, "report")
    alice.wait_for("#report-dialog[open]").send_keys(Keys.ESCAPE)
    alice.wait("!document.querySelector('#report-dialog').open")


def test_named_users_are_mentioned_and_see_it(chats):
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "open"})
    for user in "bob", "carol":
        chats.server.request("PUT", f"/v1/rooms/den/members/{user}?user=alice", {"role": "member"})
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    alice.find("[data-composer]").send_keys("@b")
    alice.wait("!document.querySelector('#completion').hidden")
    alice.find("[data-composer]").send_keys(Keys.ENTER, "and (@carol), not @nobody", Keys.ENTER)
    bob.wait_for("[data-seq='1'].mentions-me")
    message = chats.server.request("GET", "/v1/rooms/den/messages/1?user=alice")
    assert message["mentions"] == ["bob", "carol"]
    assert not alice.run("return document.querySelector('.mentions-me')")
    alice.click(".mine [data-edit]")
    field = alice.find("[data-composer]")
    field.clear()
    field.send_keys("Only @carol", Keys.ENTER)
    bob.wait("document.querySelector('[data-seq=\"1\"]:not(.mentions-me)')")
    assert chats.server.request("GET", "/v1/rooms/den/messages/1?user=alice")["mentions"] == ["carol"]


def test_direct_room_has_the_name_of_the_other_user(alice, chats):
    for user in "bob", "mallory":
        chats.server.request("PUT", f"/v1/rooms/den/members/{user}?user=alice", {"role": "member"})
    bob = chats(1).open("bob", room="den")
    alice.find("#members").click()
    alice.wait_for("[aria-label='Write to bob']").click()
    alice.wait("document.querySelector('#room-title').textContent === 'bob'")
    alice.wait_live()
    alice.type("Between us")
    item = "[...document.querySelectorAll('[data-room-item^=\"@\"]')]"
    alice.wait(f"{item}.some((item) => item.querySelector('.name').textContent === 'bob')")
    bob.wait(f"{item}.some((item) => item.querySelector('.name').textContent === 'alice')")
    bob.find("[data-room-item^='@'] a").click()
    bob.wait_text("Between us")
    assert bob.find("#room-title").text == "alice"
    # Its members stay.
    bob.find("#members").click()
    bob.wait("document.querySelectorAll('#member-list li').length === 2")
    assert not bob.run("return document.querySelector('#member-list button')")
    assert not bob.find("#add-member").is_displayed()
    bob.find("#members-dialog [data-cancel]").click()
    bob.type("Yes")
    alice.wait_text("Yes")


def test_own_message_tells_if_somebody_has_read_it(chats):
    for text in "First", "Second", "Third":
        chats.server.send(text)
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=bob", {"seq": 2})
    alice = chats().open()
    ticks = "[...document.querySelectorAll('.mine .tick')].map((tick) => tick.getAttribute('aria-label')).join()"
    # Messages of one minute share the tick, unless theirs differ.
    alice.wait(f"{ticks} === 'Read by some,Sent'")
    assert alice.find("[data-seq='2'] .readers").text == "Read by bob"
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=carol", {"seq": 3})
    alice.wait(f"{ticks} === 'Read by some'")
    assert alice.find("[data-seq='3'] .readers").text == "Read by carol"
