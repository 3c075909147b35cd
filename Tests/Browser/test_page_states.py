"""The chat page at `/`: rooms and lists without content, paper, small screens, and the tree of screen readers."""

import pytest
from conftest import DEADLINE, fill
from selenium.webdriver.support.ui import WebDriverWait

SHOWN = "document.querySelector('{}')?.checkVisibility()"


def test_first_visit_offers_to_make_a_room(chat):
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait(SHOWN.format("#first"))
    assert "no room yet" in chat.find("#first").text
    chat.click("#nothing [data-new-room]")
    chat.find("#new-room-id").send_keys("first")
    chat.click("#new-room-dialog .primary")
    chat.wait("document.querySelector('[data-room-item=first]')")
    assert not chat.find("#first").is_displayed()


def test_empty_room_says_so_until_it_has_a_message(chat):
    chat.open(room="empty")
    chat.wait("document.querySelector('#empty-title').textContent === 'No messages yet'")
    chat.wait(SHOWN.format("#empty"))
    chat.type("The first one")
    chat.wait_text("The first one")
    chat.wait("!" + SHOWN.format("#empty"))


def test_room_that_cannot_be_loaded_says_why(chat):
    chat.open(room="known")
    chat.server.stop()
    chat.wait("document.querySelector('[data-timeline][data-connection=offline]')")
    chat.run("history.pushState({}, '', '/?user=alice&room=unknown'); dispatchEvent(new PopStateEvent('popstate'))")
    chat.wait("document.querySelector('#empty-text').textContent.includes('once the server answers')")
    # The middle says it, and nothing else.
    assert not any(chat.find(selector).is_displayed() for selector in ("[data-edge=before]", "[data-edge=after]", "[data-to-latest]"))
    chat.server.start()
    chat.wait_live()
    chat.wait("document.querySelector('#empty-title').textContent === 'No messages yet'")


def test_room_that_may_not_be_read_leads_back(chat):
    chat.server.request("PUT", "/v1/rooms/secret?user=bob", {"visibility": "private"})
    chat.open(room="secret", wait=False)
    chat.wait(SHOWN.format("#ended.alone"))
    assert not chat.find("#members").is_displayed()
    chat.click("#ended button")
    chat.wait(SHOWN.format("#nothing"))
    # Another room has its parts again.
    chat.open(room="open")
    assert chat.find("#members").is_displayed() and chat.find(".frame").is_displayed() and not chat.find("#ended").is_displayed()


def test_pages_that_failed_are_loaded_again_by_a_click(chat):
    fill(chat.server, 100)
    chat.open(at=100)
    chat.run("window.real = fetch; window.fetch = (url, options) => (url.includes('before=') ? Promise.reject(new TypeError()) : real(url, options))")
    chat.run("document.querySelector('[data-timeline]').scrollTop = 0")
    chat.wait("document.querySelector('[data-timeline]').dataset.before === 'failed'")
    chat.run("window.fetch = window.real")
    chat.click("[data-edge=before]")
    chat.wait("document.querySelector('[data-timeline]').dataset.before !== 'failed'")


# Paper


def test_print_has_the_conversation_and_the_reader_stays_where_they_are(chat):
    fill(chat.server, 29)
    chat.open(at=29)
    chat.wait("document.querySelector('.row[data-seq=\"29\"]')")
    drawn = chat.run("return document.querySelectorAll('.row').length")
    key = chat.reading()
    top = chat.top(key)
    chat.run("addEventListener('beforeprint', () => (window.printed = document.querySelectorAll('.row').length))")
    assert chat.driver.print_page()
    chat.wait("window.printed === 29")
    chat.wait(f"document.querySelectorAll('.row').length <= {max(drawn, 28)}")
    assert abs(chat.top(key) - top) < 1


def test_paper_has_neither_the_list_of_rooms_nor_the_composer(chat):
    fill(chat.server, 3)
    chat.server.send(f"```\n{'code, ' * 90}\n```")
    chat.open()
    chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        for selector in ".rooms", "#composer", ".actions", "#members":
            assert not chat.find(selector).is_displayed(), selector
        assert chat.find("#room-title").is_displayed() and chat.find(".row .text").is_displayed()
        assert chat.run("const { scrollWidth, clientWidth } = document.querySelector('pre'); return scrollWidth - clientWidth") == 0
        # Ink on white, whatever the screen has.
        assert chat.run("return getComputedStyle(document.querySelector('.row .text')).color") == "rgb(0, 0, 0)"
    finally:
        chat.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


# Small screens, and readers of the tree


@pytest.fixture
def small(chat):
    """A screen as narrow as the narrowest phone."""
    chat.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 320, "height": 480, "deviceScaleFactor": 1, "mobile": False})
    yield chat
    chat.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_link_that_names_no_room_is_told_beside_the_list(small):
    small.server.request("PUT", "/v1/rooms/plans?user=alice", {"visibility": "open"})
    small.open(room="no%20room", wait=False)
    small.wait_for("[data-room-item=plans]")
    assert "no room" in small.find("#no-rooms").text
    assert small.run("document.querySelector('[data-room-item=plans] a').click(); return document.querySelector('#no-rooms').textContent") == ""


def test_narrow_screen_shows_all_controls(small):
    small.server.request("PUT", "/v1/rooms/plans?user=alice", {"visibility": "open", "title": "A long title of a room that does not fit"})
    for user in "bob", "somebody-with-a-very-long-name":
        small.server.request("PUT", f"/v1/rooms/plans/members/{user}?user=alice", {"role": "member"})
    fill(small.server, 3, room="plans")
    small.open(room="plans")
    small.click("#members")
    small.wait("document.querySelectorAll('#member-list li').length === 3")
    cut = small.run("""
        const isCut = (node) => {
            const { left, right, width } = node.getBoundingClientRect();
            return width > 0 && (left < 0 || right > 320);
        };
        return [...document.querySelectorAll("#screen > header *, .composer *, #members-dialog *")].filter((node) => node.checkVisibility() && isCut(node)).map((node) => node.outerHTML);
    """)
    assert cut == []
    assert small.run("return document.documentElement.scrollWidth") == 320
    for name in small.driver.find_elements("css selector", "#member-list .who"):
        assert name.size["width"] >= 100


def test_screen_readers_get_a_name_for_each_control(chat):
    server = chat.server
    server.request("PUT", "/v1/rooms/plans?user=alice", {"visibility": "open"})
    fill(server, 6, room="plans")
    server.request("POST", "/v1/rooms/plans/messages?user=bob", {"text": "An answer", "reply_to": 1})
    server.request("PUT", "/v1/rooms/plans/messages/7/reactions/%F0%9F%8E%89?user=bob")
    chat.open(room="plans")
    chat.wait_text("An answer")
    chat.driver.execute_cdp_cmd("Accessibility.enable", {})
    controls = {"button", "link", "textbox", "searchbox", "checkbox", "combobox", "Date", "article", "log", "navigation", "image"}
    for opener in None, "#members", "#date", "#me", "[data-new-room]", "#mentions":
        if opener:
            chat.click(opener)
            WebDriverWait(chat.driver, DEADLINE).until(lambda driver: driver.find_elements("css selector", "dialog[open]"))
        nodes = chat.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        found = [node for node in nodes if not node["ignored"] and node["role"]["value"] in controls]
        assert len(found) > (20 if opener is None else 0)
        assert [node for node in found if not node["name"]["value"]] == [], opener
        chat.run("document.querySelector('dialog[open]')?.close()")
    chat.driver.execute_cdp_cmd("Accessibility.disable", {})
