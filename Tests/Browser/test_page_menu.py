"""The menu of a message on the chat page: by a right click, a long press and the keyboard."""

import re

import pytest
from conftest import fill
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def bubble(chat, seq):
    return chat.find(f"[data-seq='{seq}'] .bubble")


def right_click(chat, seq):
    """Opens the menu of a message, and returns the names of its items."""
    ActionChains(chat.driver).context_click(bubble(chat, seq)).perform()
    return items(chat)


def items(chat):
    chat.wait("document.querySelector('#menu').open")
    return [node.get_attribute("data-menu-item") for node in chat.driver.find_elements(By.CSS_SELECTOR, "#menu [role=menuitem]")]


def choose(chat, name):
    chat.find(f"[data-menu-item={name}]").click()
    assert not chat.run("return document.querySelector('#menu').open")


def clipboard(chat):
    """Keeps what the page copies, because a browser without a window has no clipboard of its own."""
    chat.run("window.copied = []; navigator.clipboard.writeText = async (text) => void copied.push(text)")


# The buttons that can be seen and are smaller than a finger needs: those of reactions and within texts are.
SMALL = """
return [...document.querySelectorAll(`${arguments[0]} button`)].filter((node) => node.checkVisibility()).flatMap((node) => {
    const { width, height } = node.getBoundingClientRect();
    return Math.min(width, height) < 44 && !node.matches(".emoji-row *") ? [`${node.id} ${node.textContent} ${width} x ${height}`] : [];
});
"""


@pytest.mark.parametrize("width", [390, 320])
def test_buttons_on_a_phone_are_as_large_as_a_finger_needs(chats, width):
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "private", "title": "A long title of a room " * 3})
    chats.server.send("One", room="den")
    chats.server.request("PUT", "/v1/rooms/den/messages/1/pin?user=alice")
    alice = chats()
    alice.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    try:
        alice.open(room="den")
        alice.wait_for("#mute")
        alice.wait_for("#pin-list")
        assert alice.run(SMALL, "#screen > header") == alice.run(SMALL, ".pins") == alice.run(SMALL, ".composer") == []
        # The title has room, and nothing is out of sight.
        assert alice.run("return document.querySelector('#screen .names').clientWidth") >= 60
        assert alice.run("return document.querySelector('#members').getBoundingClientRect().right") <= width
        alice.click("#members")
        alice.wait("document.querySelector('#member-list li')")
        assert alice.run(SMALL, "#members-dialog") == []
        alice.click("#members-dialog [data-cancel]")
        alice.click("[data-seq='1'] [data-menu]")
        assert alice.run(SMALL, "#menu") == []
        assert alice.run("const menu = document.querySelector('#menu'); return menu.scrollWidth - menu.clientWidth") <= 0
    finally:
        alice.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_menu_replies_edits_and_deletes(chats):
    chats.server.send("A question", user="bob")
    chats.server.send("My answer", user="alice")
    alice = chats().open()
    alice.wait_text("My answer")
    assert right_click(alice, 1) == ["reply", "copy", "link", "report", "block"]
    choose(alice, "reply")
    assert alice.run("return document.activeElement.matches('[data-composer]')")
    alice.type("Yes")
    assert alice.wait_for("[data-seq='3'] .quote").text.startswith("bob")
    assert right_click(alice, 2) == ["reply", "copy", "link", "edit", "delete"]
    choose(alice, "edit")
    alice.find("[data-composer]").send_keys(" is longer", Keys.ENTER)
    alice.wait_text("My answer is longer")
    right_click(alice, 2)
    choose(alice, "delete")
    alice.wait_for("#question-dialog[open]")
    alice.find("#question-yes").click()
    alice.wait("document.querySelector('[data-seq=\"2\"] .tombstone')")
    # A deleted message has no menu.
    ActionChains(alice.driver).context_click(bubble(alice, 2)).perform()
    assert not alice.run("return document.querySelector('#menu').open")


def test_menu_of_an_owner_deletes_messages_of_others(chats):
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "open"})
    chats.server.send("Something", room="den", user="bob")
    alice, bob = chats().open(room="den"), chats(1).open("bob", room="den")
    # The page learns after the messages that she is the owner.
    alice.wait("(document.querySelector('#menu').close(), document.querySelector('[data-seq=\"1\"] [data-menu]').click(),"
               "document.querySelector('[data-menu-item=delete]'))")
    alice.find("#menu").send_keys(Keys.ESCAPE)
    assert right_click(alice, 1) == ["reply", "copy", "link", "pin", "delete", "report", "block"]
    alice.find("#menu").send_keys(Keys.ESCAPE)
    assert right_click(bob, 1) == ["reply", "copy", "link", "edit", "delete"]


def test_menu_reacts(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait_text("Hello")
    right_click(alice, 1)
    alice.find("[data-menu-react='🎉']").click()
    alice.wait_for("[data-seq='1'] [data-reaction='🎉'][aria-pressed=true]")


def test_menu_copies_the_text_and_a_link(chats):
    fill(chats.server, 60)
    chats.server.send("Words *as written*\n\nin two paragraphs", user="bob")
    alice = chats().open(at=61)
    alice.wait_for("[data-seq='61']")
    clipboard(alice)
    right_click(alice, 61)
    choose(alice, "copy")
    alice.wait("document.querySelector('#announcer').textContent === 'The text is copied.'")
    right_click(alice, 61)
    choose(alice, "link")
    alice.wait("window.copied.length === 2")
    text, link = alice.run("return copied")
    assert text == "Words *as written*\n\nin two paragraphs"
    assert link == f"{chats.server.url}/?room=lobby&at=61"
    # Whoever opens the link chooses a name, and sees the message.
    bob = chats(1)
    bob.driver.get(link)
    bob.wait_for("#sign-in-value").send_keys("bob", Keys.ENTER)
    bob.wait_live()
    bob.wait_for("[data-seq='61']")
    assert bob.is_in_sight("[data-seq='61']")


def test_menu_copies_without_a_clipboard(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait_text("Hello")
    alice.run("Object.defineProperty(navigator, 'clipboard', { value: undefined });"
              "document.addEventListener('copy', () => (window.copied = String(document.activeElement.value)))")
    alice.find("[data-composer]").send_keys("written")
    right_click(alice, 1)
    choose(alice, "copy")
    alice.wait("window.copied === 'Hello'")
    assert alice.find("[data-composer]").get_attribute("value") == "written"
    assert not alice.driver.find_elements(By.CSS_SELECTOR, "body > textarea")


def test_browser_keeps_its_menu_for_links_and_selected_text(chats):
    chats.server.send("See https://example.com/page for more", user="bob")
    alice = chats().open()
    alice.wait_text("See https://example.com/page for more")
    press = ("const node = document.querySelector(arguments[0]); const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true });"
             "return !node.dispatchEvent(event)")
    assert not alice.run(press, "[data-seq='1'] a")
    alice.run("getSelection().selectAllChildren(document.querySelector('.text p'))")
    assert not alice.run(press, "[data-seq='1'] .text p")
    assert not alice.run("return document.querySelector('#menu').open")
    alice.run("getSelection().removeAllRanges()")
    assert alice.run(press, "[data-seq='1'] .text p")
    assert alice.run("return document.querySelector('#menu').open")


def test_keyboard_opens_the_menu_and_moves_in_it(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait_text("Hello")
    alice.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    focused = "return document.activeElement.dataset"
    # The names of keys have no menu key, and browsers take Shift and F10 for it.
    ActionChains(alice.driver).key_down(Keys.SHIFT).send_keys(Keys.F10).key_up(Keys.SHIFT).perform()
    assert items(alice) == ["reply", "copy", "link", "report", "block"]
    assert alice.run(focused)["menuItem"] == "reply"
    for key, name in [(Keys.ARROW_DOWN, "copy"), (Keys.END, "block"), (Keys.ARROW_DOWN, "block"), (Keys.HOME, "reply")]:
        alice.driver.switch_to.active_element.send_keys(key)
        assert alice.run(focused)["menuItem"] == name
    for key, emoji in [(Keys.ARROW_UP, "❤️"), (Keys.ARROW_RIGHT, "👍"), (Keys.ARROW_RIGHT, "😂"), (Keys.ARROW_LEFT, "👍")]:
        alice.driver.switch_to.active_element.send_keys(key)
        assert alice.run(focused)["menuReact"] == emoji
    alice.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not alice.run("return document.querySelector('#menu').open")
    assert alice.run(focused)["seq"] == "1"
    alice.click("[data-menu]")
    alice.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert not alice.run("return document.querySelector('#menu').open")


def test_long_press_opens_the_menu_as_a_sheet(chats):
    chats.server.send("Hello", user="bob")
    alice = chats()
    alice.driver.set_window_size(500, 800)
    alice.open()
    alice.wait_text("Hello")
    middle = alice.run("const { left, top, width, height } = document.querySelector('.bubble').getBoundingClientRect();"
                       "return { x: left + width / 2, y: top + height / 2 }")

    def touch(kind, points):
        alice.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    # A touch that moves scrolls, and opens nothing.
    alice.run("window.moved = 0; document.addEventListener('pointerdown', ({ pointerType }) => pointerType === 'touch' && moved++)")
    touch("touchStart", [middle])
    touch("touchMove", [{**middle, "y": middle["y"] - 40}])
    touch("touchEnd", [])
    alice.wait("window.moved === 1")
    assert not alice.run("return document.querySelector('#menu').open")
    touch("touchStart", [middle])
    assert items(alice) == ["reply", "copy", "link", "report", "block"]
    touch("touchEnd", [])
    assert alice.run("return document.querySelector('#menu').open")
    box = alice.run("return document.querySelector('#menu').getBoundingClientRect().toJSON()")
    assert box["left"] == 0 and box["width"] == alice.run("return innerWidth") and box["bottom"] == alice.run("return innerHeight")
    # A tap beside it closes it.
    alice.run("document.querySelector('#menu').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    assert not alice.run("return document.querySelector('#menu').open")


def test_menu_stays_in_the_window(chats):
    fill(chats.server, 30)
    alice = chats().open(at=15)
    for place in ["top", "bottom"]:
        alice.run("const nodes = [...document.querySelectorAll('.row')].filter((row) => { const box = row.getBoundingClientRect();"
                  "return box.top > 60 && box.bottom < innerHeight - 60; });"
                  f"const {{ top, right }} = nodes.at({0 if place == 'top' else -1}).getBoundingClientRect();"
                  f"nodes.at({0 if place == 'top' else -1}).dispatchEvent(new MouseEvent('contextmenu',"
                  "{ bubbles: true, cancelable: true, clientX: right, clientY: top }))")
        assert alice.run("const { left, top, right, bottom } = document.querySelector('#menu').getBoundingClientRect();"
                         "return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight"), place
        alice.find("#menu").send_keys(Keys.ESCAPE)


def test_button_opens_the_menu(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait_text("Hello")
    alice.click("[data-menu]")
    assert items(alice) == ["reply", "copy", "link", "report", "block"]
    label = alice.find("#menu").get_attribute("aria-label")
    assert label == "bob: Hello"
    assert alice.violations() == []


BAR = """
    const row = document.querySelector(`.row[data-seq="${arguments[0]}"]`);
    const [bar, bubble, list] = [row.querySelector(arguments[1]), row.querySelector(".bubble"), document.querySelector("#messages")]
        .map((node) => node.getBoundingClientRect());
    const { top, bottom } = row.getBoundingClientRect();
    return { isShown: getComputedStyle(row.querySelector(arguments[1])).opacity === "1", gap: Math.max(bar.left - bubble.right, bubble.left - bar.right),
        isInRow: bar.top >= top && bar.bottom <= bottom, isInList: bar.left >= list.left && bar.right <= list.right };
"""


@pytest.mark.parametrize("width", [1200, 760, 500])
def test_bar_of_actions_is_at_the_bubble_and_over_no_other_message(chats, width):
    texts = ["+1", "word " * 60, "+1", "Some words here"]
    for number, text in enumerate(texts):
        chats.server.send(text, user="alice" if number % 2 else "bob")
        chats.server.send(text, user="bob" if number % 2 else "alice")
    alice = chats()
    alice.driver.set_window_size(width, 900)
    alice.open()
    for seq in range(1, 2 * len(texts) + 1):
        alice.run("document.querySelector(`[data-seq='${arguments[0]}']`).scrollIntoView({ block: 'center' })", seq)
        ActionChains(alice.driver).move_to_element(bubble(alice, seq)).perform()
        alice.wait(f"document.querySelector('[data-seq=\"{seq}\"]').matches(':hover')")
        bar = alice.run(BAR, seq, ".actions")
        assert bar["isShown"] and bar["isInRow"] and bar["isInList"], (seq, bar)
        # It is beside the bubble, unless the row ends there.
        assert 0 < bar["gap"] < 10 or "word" in texts[(seq - 1) // 2], (seq, bar)
        if width == 1200:
            assert 0 < bar["gap"] < 10, (seq, bar)


def test_bar_of_actions_is_shown_to_the_keyboard_and_not_after_a_tap(chats):
    chats.server.send("Hello", user="bob")
    chats.server.send("Hello, bob", user="alice")
    alice = chats().open()
    alice.wait_text("Hello, bob")
    shown = "return getComputedStyle(document.activeElement.closest('.row').querySelector('.actions')).opacity"
    alice.find("[data-timeline]").send_keys(Keys.ARROW_UP)
    assert alice.run(shown) == "1"
    names = []
    for _ in range(4):
        alice.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        names.append(alice.run("return document.activeElement.ariaLabel"))
    assert names == ["React", "Reply", "Edit", "More"]
    assert alice.run(shown) == "1"
    alice.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        alice.run("document.activeElement.blur()")
        alice.wait("matchMedia('(pointer: coarse)').matches")
        place = alice.run("const { left, top } = document.querySelector('.bubble').getBoundingClientRect(); return { x: left + 9, y: top + 9 }")
        for kind, points in ("touchStart", [place]), ("touchEnd", []):
            alice.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        alice.wait("document.querySelector('.row').contains(document.activeElement)")
        assert alice.run(shown) == "0"
    finally:
        alice.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_return_breaks_the_line_on_a_touch_keyboard(chats):
    alice = chats().open()
    alice.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        alice.wait("matchMedia('(pointer: coarse)').matches")
        alice.find("[data-composer]").send_keys("One", Keys.ENTER, "two")
        assert alice.find("[data-composer]").get_attribute("value") == "One\ntwo"
        alice.find("[data-composer]").send_keys(Keys.CONTROL, Keys.ENTER)
        alice.wait_text("One\ntwo")
    finally:
        alice.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_reactions_are_chosen_at_the_bubble(chats):
    chats.server.send("Hello", user="bob")
    alice = chats()
    alice.driver.set_window_size(500, 800)
    alice.open()
    alice.wait_text("Hello")
    alice.click("[data-pick]")
    assert alice.run(BAR, 1, ".picker")["isInList"]
    alice.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ENTER)
    alice.wait_for("[data-reaction='👍'][aria-pressed=true]")


def test_menu_says_when_the_message_was_sent(chats):
    chats.server.send("Hello", user="bob")
    alice = chats().open()
    alice.wait_text("Hello")
    right_click(alice, 1)
    assert re.search(r"\d\d?:\d\d:\d\d", alice.find("#menu .note").text)
