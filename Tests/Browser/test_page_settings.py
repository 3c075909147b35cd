"""Settings of a room on the chat page, and what they do to those who write."""

from selenium.webdriver.support.ui import Select

PLACEHOLDER = "document.querySelector('[data-composer]').placeholder"


def make(server, *members, **settings):
    server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "private", "title": "The den", **settings})
    for user in members:
        server.request("PUT", f"/v1/rooms/den/members/{user}?user=alice", {"role": "member"})


def open_settings(chat):
    chat.find("#members").click()
    chat.wait("document.querySelectorAll('#member-list li').length > 0")
    chat.wait_for("#settings").click()
    chat.wait("document.querySelector('#settings-dialog').open")


def save(chat):
    chat.find("#settings-dialog .primary").click()
    chat.wait("!document.querySelector('#settings-dialog').open")
    chat.find("#members-dialog [data-cancel]").click()


def test_owner_sets_the_manners_of_a_room(chats):
    server = chats.server
    make(server, "bob", keep_days=30)
    alice = chats().open(room="den")
    open_settings(alice)
    assert alice.violations() == []
    assert alice.find("#settings-name").get_attribute("value") == "The den"
    assert alice.find("#settings-keep").get_attribute("value") == "30"
    alice.find("#settings-name").clear()
    alice.find("#settings-name").send_keys("The lair")
    alice.find("#settings-avatar").send_keys("https://example.com/den.png")
    Select(alice.find("#settings-slow")).select_by_visible_text("5 minutes")
    alice.find("#settings-keep").clear()
    for name in "posting", "pinning":
        alice.find(f"#settings-dialog [name={name}]").click()
    save(alice)
    alice.wait("document.querySelector('#room-title').textContent === 'The lair'")
    alice.wait("document.querySelector('[data-room-item=den] .name').textContent.startsWith('The lair')")
    room = server.request("GET", "/v1/rooms/den?user=bob")
    assert [room.get(field) for field in ("title", "avatar", "slow_seconds", "keep_days", "posting", "pinning")] \
        == ["The lair", "https://example.com/den.png", 300, None, "owners", "members"]
    # The dialog shows what is set, and takes it back.
    open_settings(alice)
    assert alice.find("#settings-avatar").get_attribute("value") == "https://example.com/den.png"
    assert Select(alice.find("#settings-slow")).first_selected_option.text == "5 minutes"
    Select(alice.find("#settings-slow")).select_by_visible_text("Off")
    for selector in "#settings-name", "#settings-avatar":
        alice.find(selector).clear()
    for name in "posting", "pinning":
        assert alice.find(f"#settings-dialog [name={name}]").is_selected()
        alice.find(f"#settings-dialog [name={name}]").click()
    save(alice)
    alice.wait("document.querySelector('#room-title').textContent === 'den'")
    room = server.request("GET", "/v1/rooms/den?user=bob")
    assert not {"title", "avatar", "slow_seconds", "keep_days", "posting", "pinning"} & room.keys()


def test_settings_leave_what_another_owner_sets_meanwhile(chats):
    make(chats.server)
    alice = chats().open(room="den")
    open_settings(alice)
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"posting": "owners", "slow_seconds": 7})
    alice.find("#settings-name").send_keys(" of foxes")
    save(alice)
    room = chats.server.request("GET", "/v1/rooms/den?user=alice")
    assert (room["title"], room["posting"], room["slow_seconds"]) == ("The den of foxes", "owners", 7)
    open_settings(alice)
    assert Select(alice.find("#settings-slow")).first_selected_option.text == "7 seconds"


def test_settings_show_what_the_server_refuses(chats):
    make(chats.server)
    alice = chats().open(room="den")
    open_settings(alice)
    for selector, text, problem in (
            ("#settings-keep", "many", "number"), ("#settings-keep", "40000", "keep_days"), ("#settings-avatar", "ftp://example.com", "avatar")):
        alice.find(selector).clear()
        alice.find(selector).send_keys(text)
        alice.find("#settings-dialog .primary").click()
        alice.wait(f"document.querySelector('#settings-error').textContent.includes('{problem}')")
        alice.find(selector).clear()
    alice.find("#settings-dialog [data-cancel]").click()
    assert chats.server.request("GET", "/v1/rooms/den?user=alice").get("keep_days") is None


def test_members_have_no_settings(chats):
    make(chats.server, "bob")
    bob = chats(1).open("bob", room="den")
    bob.find("#members").click()
    bob.wait("document.querySelectorAll('#member-list li').length === 2")
    assert bob.run("return document.querySelector('#settings').hidden")


def test_room_in_which_only_owners_post_says_so(chats):
    server = chats.server
    make(server, "bob")
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    bob.wait(f"{PLACEHOLDER} === 'Message'")
    server.request("PUT", "/v1/rooms/den?user=alice", {"posting": "owners"})
    # The page does not know yet.
    bob.type("Me too")
    bob.wait_for(".row[data-state=failed]")
    assert bob.find(".failed span").text == "Only owners may write in this room."
    assert bob.find("#context-text").text == "Only owners may write in this room."
    bob.wait(f"{PLACEHOLDER} === 'Only owners may write here'")
    color = "return getComputedStyle(document.querySelector('#composer [type=submit]')).backgroundColor"
    assert bob.run(color) != alice.run(color)
    assert alice.run(f"return {PLACEHOLDER}") == "Message"
    alice.type("News")
    bob.wait_text("News")
    server.request("PUT", "/v1/rooms/den?user=alice", {"posting": "members"})
    bob.click("[data-retry]")
    alice.wait_text("Me too")


def test_slow_mode_tells_the_time_left_and_sends_then(chats):
    server = chats.server
    make(server, "bob", slow_seconds=3)
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    bob.type("one")
    bob.wait(f"/^Slow mode: [123] sec$/.test({PLACEHOLDER})")
    bob.type("two")
    bob.wait("/^Slow mode: the message will be sent in [123] sec\\.$/.test(document.querySelector('#context-text').textContent)")
    alice.wait_text("two")
    bob.wait(f"{PLACEHOLDER} === 'Message'")
    assert not bob.driver.find_elements("css selector", ".row[data-state=failed]")
    # An owner does not wait.
    for text in "three", "four":
        alice.type(text)
        bob.wait_text(text)
    assert alice.run(f"return {PLACEHOLDER}") == "Message"


def test_slow_mode_counts_by_the_clock_of_the_server(chats):
    server = chats.server
    make(server, "bob", slow_seconds=600)
    bob = chats()
    # The device's clock is an hour ahead.
    source = "const now = Date.now; Date.now = () => now() + 3600000"
    added = bob.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        server.send("one", room="den", user="bob")
        bob.open("bob", room="den")
        bob.wait(f"/^Slow mode: (9|10) min$/.test({PLACEHOLDER})")
    finally:
        bob.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_dialog_ends_with_its_room(chats):
    make(chats.server, "bob")
    alice = chats().open(room="lobby")
    alice.wait_for("[data-room-item=den] a").click()
    alice.wait("document.querySelector('#room-title').textContent === 'The den'")
    alice.wait("!document.querySelector('#settings').hidden")
    alice.find("#members").click()
    alice.click("#settings")
    alice.wait("document.querySelector('#settings-dialog').open")
    alice.driver.back()
    alice.wait("document.querySelector('dialog[open]') === null")
    assert alice.run("return document.querySelector('#room-title').textContent") == "The den"
    alice.click("#settings")
    alice.wait("document.querySelector('#settings-dialog').open")
    alice.run("history.go(-2)")
    alice.wait("document.querySelector('#room-title').textContent === 'lobby'")
    assert alice.run("return document.querySelector('dialog[open]')") is None
