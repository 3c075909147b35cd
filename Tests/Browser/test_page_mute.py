"""Muted rooms on the chat page: the dialog, the quiet badge in the list of rooms, and the page's title."""

from test_page_mentions import make, mention

ITEM = "document.querySelector('[data-room-item=den]')"


def badges(*classes):
    """Returns a condition: the badges of the room have these classes."""
    return f"[...{ITEM}.querySelectorAll('.badge')].map((badge) => badge.className).join() === '{','.join(classes)}'"


def mute(chat, level, end="never"):
    chat.click("#mute")
    chat.click(f"#mute-dialog [value={level}]")
    if level != "all":
        chat.run(f"document.querySelector('#mute-end').value = '{end}'")
    assert chat.violations() == []
    chat.click("#mute-dialog .primary")
    chat.wait("!document.querySelector('#mute-dialog').open")


def test_muted_room_has_a_quiet_badge_and_is_left_out_of_the_title(chats):
    server = chats.server
    make(server, "alice")
    alice = chats().open(room="den")
    alice.wait("document.querySelector('#mute').title.endsWith('All messages')")
    mute(alice, "mentions")
    alice.wait("document.querySelector('#mute').title.endsWith('Mentions only')")
    assert "notify" in server.request("GET", "/v1/rooms/den?user=alice")
    alice.open()
    server.send("Hello", room="den", user="bob")
    alice.wait(badges("badge quiet"))
    assert "mentions only" in alice.find("[data-room-item=den] .name").text
    assert not alice.driver.title.startswith("(")
    assert alice.violations() == []
    mention(server, "@alice, look")
    alice.wait(badges("badge mention", "badge quiet"))
    alice.wait("document.title.startsWith('(1) ')")
    # The other device says more.
    server.request("PUT", "/v1/rooms/den/notify?user=alice", {"level": "none"})
    alice.wait(badges("badge mention quiet", "badge quiet"))
    alice.wait("!document.title.startsWith('(')")
    assert "muted" in alice.find("[data-room-item=den] .name").text
    server.request("PUT", "/v1/rooms/den/notify?user=alice", {"level": "all"})
    alice.wait(badges("badge mention", "badge"))
    alice.wait("document.title.startsWith('(2) ')")


def test_mute_ends_at_the_chosen_time(chats):
    server = chats.server
    make(server, "alice")
    alice = chats().open(room="den")
    alice.wait("!document.querySelector('#mute').hidden")
    mute(alice, "none", end="hour")
    alice.wait("document.querySelector('#mute').title.endsWith('Nothing')")
    until = server.request("GET", "/v1/rooms/den?user=alice")["notify"]["until"]
    left = alice.run("return Date.parse(arguments[0]) - Date.now()", until)
    assert 3500e3 < left <= 3600e3
    # The dialog keeps an end that is not changed.
    alice.click("#mute")
    assert alice.run("return document.querySelector('#mute-end').value") == until
    alice.click("#mute-dialog [value=mentions]")
    alice.click("#mute-dialog .primary")
    alice.wait("document.querySelector('#mute').title.endsWith('Mentions only')")
    assert server.request("GET", "/v1/rooms/den?user=alice")["notify"]["until"] == until
    mute(alice, "none", end="morning")
    alice.wait("document.querySelector('#mute').title.endsWith('Nothing')")
    until = server.request("GET", "/v1/rooms/den?user=alice")["notify"]["until"]
    assert alice.run("const end = new Date(arguments[0]); return end.getHours() === 8 && end > Date.now()", until)
    mute(alice, "all")
    alice.wait("document.querySelector('#mute').title.endsWith('All messages')")
    assert "notify" not in server.request("GET", "/v1/rooms/den?user=alice")


def test_user_who_is_no_member_has_nothing_to_mute(chats):
    server = chats.server
    server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait("!document.querySelector('#join').hidden")
    assert alice.run("return document.querySelector('#mute').hidden")
    alice.click("#join")
    alice.wait("!document.querySelector('#mute').hidden")
