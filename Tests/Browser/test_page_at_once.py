"""What the chat page shows at once, before the server has answered."""

import urllib.parse

import pytest
from conftest import fill
from selenium.webdriver.common.keys import Keys

LIKE = "❤️"
REACTION = f"[data-reaction='{LIKE}']"
# Clicks an element, and returns the reaction in the next frame.
CLICK = f"""
    const [selector, done] = arguments;
    document.querySelector(selector).click();
    requestAnimationFrame(() => {{
        const node = document.querySelector("{REACTION}");
        done(node && [node.dataset.count, node.ariaPressed, "pending" in node.dataset]);
    }});
"""


def click(chat, selector):
    return chat.driver.execute_async_script(CLICK, selector)


@pytest.fixture
def chat(chats):
    """A page with a message of bob, whose requests wait for a second."""
    chats.server.send("Hello", user="bob")
    chat = chats().open()
    chat.wait_text("Hello")
    chat.set_faults("delay=1000")
    return chat


def test_reaction_is_shown_at_once_and_marked_until_it_is_stored(chat, chats):
    assert click(chat, f"[data-react='{LIKE}']") == ["1", "true", True]
    chat.wait_for(f"{REACTION}:not([data-pending])[aria-pressed=true][data-count='1']")
    assert chats.server.request("GET", "/v1/rooms/lobby/messages/1?user=bob")["reactions"][0]["users"] == ["alice"]
    assert click(chat, REACTION) is None
    chat.wait("!document.querySelector('.reactions')")


def test_reaction_is_added_to_those_of_others(chat, chats):
    chats.server.request("PUT", f"/v1/rooms/lobby/messages/1/reactions/{urllib.parse.quote(LIKE)}?user=bob")
    chat.wait_for(f"{REACTION}[data-count='1']")
    assert click(chat, REACTION) == ["2", "true", True]
    chat.wait_for(f"{REACTION}:not([data-pending])[data-count='2']")
    assert click(chat, REACTION) == ["1", "false", True]
    chat.wait_for(f"{REACTION}:not([data-pending])[data-count='1'][aria-pressed=false]")


def test_last_of_quick_clicks_is_stored(chat, chats):
    assert click(chat, f"[data-react='{LIKE}']") == ["1", "true", True]
    assert click(chat, REACTION) is None
    assert click(chat, f"[data-react='{LIKE}']") == ["1", "true", True]
    assert click(chat, REACTION) is None
    # Both requests, one after the other, have been answered.
    chat.wait("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/reactions/')).length === 2")
    chat.wait("!document.querySelector('.reactions')")
    assert not chats.server.request("GET", "/v1/rooms/lobby/messages/1?user=bob").get("reactions")


def test_refused_reaction_is_taken_back_with_the_reason(chat):
    chat.set_faults("status=500")
    assert click(chat, f"[data-react='{LIKE}']") == ["1", "true", True]
    chat.wait("!document.querySelector('.reactions') && document.querySelector('#context .error')")
    chat.set_faults(None)
    chat.click(f"[data-react='{LIKE}']")
    chat.wait_for(f"{REACTION}:not([data-pending])")


def test_jump_has_a_sign_until_it_is_there(chats):
    fill(chats.server, 100)
    chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "See the first", "reply_to": 1})
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 101})
    chat = chats().open()
    chat.wait("document.querySelector('[data-jump]')?.textContent.includes('Message 1.')")
    chat.set_faults("delay=1000")
    busy = "document.querySelector('[data-timeline]').ariaBusy"
    assert chat.run(f"document.querySelector('[data-jump]').click(); return {busy}") == "true"
    assert chat.run("return getComputedStyle(document.querySelector('.frame'), '::before').height") == "3px"
    chat.wait_for(".row[data-seq='1'][data-found]")
    chat.wait(f"{busy} === null")
    assert chat.run(f"document.querySelector('[data-to-latest]').click(); return {busy}") == "true"
    chat.wait(chat.at_bottom())
    chat.wait(f"{busy} === null")


def test_reading_clears_the_number_at_once(chats):
    fill(chats.server, 40)
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 20})
    chat = chats().open()
    chat.wait("document.querySelector('[data-room-item=lobby] .badge')")
    chat.set_faults("delay=4000")
    chat.find("[data-timeline]").send_keys(Keys.END)
    chat.wait("document.querySelector('[data-room-item=lobby]').dataset.unread === '0'")
    # The server learns it when the request has waited.
    assert chats.server.request("GET", "/v1/rooms/lobby?user=alice")["unread"] > 0
