"""Mentions on the chat page: the badge in the list of rooms, the way to the first one, and the list of them all."""

from conftest import fill

BADGE = "document.querySelector('[data-room-item=den] .badge.mention')?.getAttribute('aria-label')"


def make(server, *members):
    server.request("PUT", "/v1/rooms/den?user=bob", {"visibility": "private", "title": "The den"})
    for user in members:
        server.request("PUT", f"/v1/rooms/den/members/{user}?user=bob", {"role": "member"})


def mention(server, text, room="den", **fields):
    server.request("POST", f"/v1/rooms/{room}/messages?user=bob", {"text": text, **(fields or {"mentions": ["alice"]})})


def test_badge_in_the_list_tells_mentions_from_other_messages(chats):
    server = chats.server
    make(server, "alice")
    server.send("Hello", room="den", user="bob")
    alice = chats().open(room="lobby")
    alice.wait("document.querySelector('[data-room-item=den] .badge')?.textContent === '1'")
    assert not alice.run(f"return {BADGE}")
    mention(server, "@alice, look")
    alice.wait(f"{BADGE} === '1 mention you'")
    mention(server, "@room, look", mentions_room=True)
    alice.wait(f"{BADGE} === '2 mention you'")
    assert alice.violations() == []
    alice.find("[data-room-item=den] a").click()
    alice.wait(f"!{BADGE} && !document.querySelector('[data-room-item=den] .badge')")


def test_button_goes_to_the_first_unread_mention_and_then_to_the_next(chats):
    server = chats.server
    make(server, "alice")
    fill(server, 40, room="den")
    mention(server, "First mention")
    fill(server, 40, room="den")
    mention(server, "Second mention")
    fill(server, 40, room="den")
    alice = chats().open(room="den", at=1)
    button = alice.wait_for("[data-to-mention]")
    assert button.text.split() == ["@", "2"]
    assert alice.violations() == []
    button.click()
    alice.wait_for("[data-seq='41'][data-found]")
    assert alice.is_in_sight("[data-seq='41']")
    # What is read does not count.
    alice.wait("document.querySelector('[data-to-mention] .badge').textContent === '1'")
    alice.click("[data-to-mention]")
    alice.wait_for("[data-seq='82'][data-found]")
    alice.wait("document.querySelector('[data-to-mention]').hidden")


def test_list_of_mentions_opens_each_in_its_room(chats):
    server = chats.server
    make(server, "alice")
    server.request("PUT", "/v1/profiles/bob?user=bob", {"name": "Bob Kim"})
    mention(server, "An early one")
    fill(server, 60, room="den")
    for number in range(60):
        mention(server, f"Look {number}", room="lobby")
    alice = chats().open(room="lobby")
    alice.find("#mentions").click()
    alice.wait("document.querySelectorAll('#found li').length === 50")
    alice.wait("document.querySelector('#found b').textContent === 'Bob Kim'")
    assert alice.find("#found .found span[dir]").text == "Look 59"
    assert alice.violations() == []
    alice.click("#messages-more")
    alice.wait("document.querySelectorAll('#found li').length === 61")
    assert alice.run("return document.querySelector('#messages-more').hidden")
    assert alice.find("#found li:last-child small").get_attribute("textContent").endswith("The den")
    alice.click("#found li:last-child .found")
    alice.wait("document.querySelector('#room-title').textContent === 'The den'")
    alice.wait_for("[data-seq='1'][data-found]")
    # Back is where the reader was.
    alice.driver.back()
    alice.wait("document.querySelector('#room-title').textContent === 'lobby'")
    alice.wait_live()
    alice.find("#mentions").click()
    alice.wait("document.querySelectorAll('#found li').length === 50")
    alice.click("#found li:nth-child(40) .found")
    alice.wait_for("[data-seq='21'][data-found]")


def test_list_without_mentions_says_so(chats):
    alice = chats().open()
    alice.find("#mentions").click()
    alice.wait("document.querySelector('#found').textContent === 'Nobody has mentioned you.'")


def test_mention_by_a_blocked_user_does_not_count(chats):
    server = chats.server
    make(server, "alice")
    server.request("PUT", "/v1/blocks/bob?user=alice")
    alice = chats().open(room="lobby")
    alice.wait("document.querySelector('[data-room-item=den]')")
    mention(server, "@alice, look")
    alice.wait("document.querySelector('[data-room-item=den] .badge')?.textContent === '1'")
    assert not alice.run(f"return {BADGE}")
