"""Pinned messages on the chat page: the bar above the messages, its list, and the menu."""

from conftest import fill
from test_page_menu import choose, right_click

LATEST = "document.querySelector('#pin-latest [dir]')?.textContent"


def make(server, *members, **settings):
    server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "private", "title": "The den", **settings})
    for user in members:
        server.request("PUT", f"/v1/rooms/den/members/{user}?user=alice", {"role": "member"})


def pin(server, seq, user="alice"):
    server.request("PUT", f"/v1/rooms/den/messages/{seq}/pin?user={user}")


def is_hidden(chat):
    return chat.run("return document.querySelector('#pins').hidden")


def test_owner_pins_and_unpins_by_the_menu(chats):
    server = chats.server
    make(server, "bob")
    server.send("The rules of the den", room="den", user="bob")
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    assert is_hidden(alice)
    assert right_click(alice, 1) == ["reply", "copy", "link", "pin", "delete", "report", "block"]
    choose(alice, "pin")
    for chat in alice, bob:
        chat.wait(f"{LATEST} === 'bob: The rules of the den'")
        chat.wait_for("[data-seq='1'] .pinned")
        assert chat.find("[data-seq='1'] .pinned").get_attribute("aria-label") == "Pinned by alice"
        assert chat.violations() == []
    assert right_click(bob, 1) == ["reply", "copy", "link", "edit", "delete"]
    choose(bob, "edit")
    bob.find("[data-composer]").send_keys(", short\n")
    alice.wait(f"{LATEST} === 'bob: The rules of the den, short'")
    assert "unpin" in right_click(alice, 1)
    choose(alice, "unpin")
    for chat in alice, bob:
        chat.wait("document.querySelector('#pins').hidden && !document.querySelector('.status .pinned')")


def test_bar_jumps_to_pinned_messages(chats):
    server = chats.server
    make(server, "bob", pinning="members")
    fill(server, 120, room="den")
    for seq in 3, 60:
        pin(server, seq)
    server.request("PUT", "/v1/rooms/den/read?user=bob", {"seq": 120})
    bob = chats(1).open("bob", room="den")
    bob.wait(f"{LATEST}?.startsWith('bob: Message 60.')")
    # The bar takes room, and the reader stays at the end.
    bob.wait(bob.at_bottom())
    assert bob.find("#pin-list").text == "All 2"
    bob.find("#pin-latest").click()
    bob.wait_for("[data-seq='60'][data-found]")
    assert bob.is_in_sight("[data-seq='60']")
    bob.find("#pin-list").click()
    bob.wait("document.querySelectorAll('#found li').length === 2")
    assert bob.violations() == []
    bob.find("#found li:nth-child(2) .found").click()
    bob.wait_for("[data-seq='3'][data-found]")
    assert not bob.run("return document.querySelector('#messages-dialog').open")
    # A change shows in the open list.
    bob.find("#pin-list").click()
    pin(server, 100)
    bob.wait("document.querySelectorAll('#found li').length === 3")
    bob.find("#found li:nth-child(1) [aria-label^=Unpin]").click()
    bob.wait("document.querySelectorAll('#found li').length === 2")
    assert bob.find("#pin-list").text == "All 2"
    server.request("DELETE", "/v1/rooms/den/messages/60?user=alice")
    bob.wait("document.querySelectorAll('#found li').length === 1")
    assert bob.run(f"return {LATEST}").startswith("bob: Message 3.")


def test_pin_too_many_is_refused_with_the_reason(chats):
    server = chats.server
    make(server)
    for number in range(1, 52):
        server.send(f"Message {number}", room="den")
        if number < 51:
            pin(server, number)
    alice = chats().open(room="den")
    alice.wait("document.querySelector('#pin-list').textContent === 'All 50'")
    right_click(alice, 51)
    choose(alice, "pin")
    alice.wait("document.querySelector('#context-text').textContent.includes('50')")


def test_pinned_message_of_a_blocked_user_is_folded(chats):
    server = chats.server
    make(server, "bob")
    server.send("An insult", room="den", user="bob")
    pin(server, 1)
    server.request("PUT", "/v1/blocks/bob?user=alice")
    alice = chats().open(room="den")
    alice.wait(f"{LATEST} === 'bob: Message of a blocked user.'")


def test_pins_change_while_the_connection_is_away(chats):
    server = chats.server
    make(server)
    for text in "one", "two":
        server.send(text, room="den")
    pin(server, 1)
    alice = chats().open(room="den")
    alice.wait(f"{LATEST} === 'alice: one'")
    port = server.port
    server.stop()
    alice.wait("document.querySelector('[data-timeline]').dataset.connection === 'offline'")
    server.start(port)
    pin(server, 2)
    server.request("DELETE", "/v1/rooms/den/messages/1/pin?user=alice")
    alice.wait(f"{LATEST} === 'alice: two'")
    assert alice.find("#pin-list").text == "List"
