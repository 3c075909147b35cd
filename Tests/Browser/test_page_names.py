"""The completion of names after `@` on the chat page."""

import pytest
from selenium.webdriver.common.keys import Keys

MEMBERS = ["bob", "carol", "carlos", "mary.jane", "김철수", "김영희", "박기영"]


@pytest.fixture
def alice(chats):
    """Alice in a room with members."""
    chats.server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "open"})
    for user in MEMBERS:
        chats.server.request("PUT", f"/v1/rooms/den/members/{urlencoded(user)}?user=alice", {"role": "member"})
    chat = chats().open(room="den")
    chat.find("[data-composer]").click()
    return chat


def urlencoded(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


def write(chat, text):
    """Writes a text in place of what is written, and returns the names that are offered."""
    chat.run("const input = document.querySelector('[data-composer]'); input.value = arguments[0];"
             "input.setSelectionRange(input.value.length, input.value.length);"
             "input.dispatchEvent(new InputEvent('input', { bubbles: true }))", text)
    # Names that were loaded before are offered, or not, in the same task.
    chat.run("return new Promise((resolve) => setTimeout(resolve))")
    return offered(chat)


def offered(chat):
    return chat.run("return document.querySelector('#completion').hidden ? []"
                    ": [...document.querySelectorAll('#completion [dir]')].map(({ textContent }) => textContent)")


def value(chat):
    return chat.find("[data-composer]").get_attribute("value")


def test_names_are_completed_by_keys_and_clicks(alice):
    alice.find("[data-composer]").send_keys("Hello @c")
    alice.wait("document.querySelectorAll('#completion li').length === 2")
    assert offered(alice) == ["carlos", "carol"]
    assert alice.violations() == []
    alice.find("[data-composer]").send_keys(Keys.ARROW_DOWN)
    assert alice.find("[data-composer]").get_attribute("aria-activedescendant") == "completion-1"
    alice.find("[data-composer]").send_keys(Keys.ENTER)
    assert value(alice) == "Hello @carol "
    assert offered(alice) == []
    alice.find("[data-composer]").send_keys("and @b")
    alice.wait("!document.querySelector('#completion').hidden")
    alice.find("#completion li").click()
    assert value(alice) == "Hello @carol and @bob "
    assert alice.run("return document.activeElement.matches('[data-composer]')")
    alice.find("[data-composer]").send_keys("!", Keys.ENTER)
    alice.wait_text("Hello @carol and @bob !")


def test_names_are_found_by_words_and_initial_consonants(alice):
    alice.find("[data-composer]").send_keys("@b")
    alice.wait("!document.querySelector('#completion').hidden")
    for text, names in [
        ("@", ["bob", "carlos", "carol", "mary.jane", "김영희", "김철수"]), ("@CAR", ["carlos", "carol"]), ("@jane", ["mary.jane"]), ("@y", []),
        ("@ㄱ", ["김영희", "김철수"]), ("@ㄱㅊ", ["김철수"]), ("@기", ["김영희", "김철수"]), ("@김ㅇ", ["김영희"]), ("@ㅂㄱㅇ", ["박기영"]),
        ("@박기여", ["박기영"]), ("@길", []), ("bob@c", []), ("@bob ", []), ("(@bo", ["bob"]), ("line\n@bo", ["bob"]), ("@alice", []),
    ]:
        assert write(alice, text) == names, text


def test_keys_go_to_the_composer_while_no_name_is_offered(alice):
    alice.find("[data-composer]").send_keys("@car")
    alice.wait("!document.querySelector('#completion').hidden")
    alice.find("[data-composer]").send_keys(Keys.ESCAPE)
    assert offered(alice) == [] and value(alice) == "@car"
    alice.find("[data-composer]").send_keys(Keys.ENTER)
    alice.wait_text("@car")
    alice.find("[data-composer]").send_keys("@car", Keys.SHIFT, Keys.ENTER, Keys.SHIFT, "x")
    assert value(alice) == "@car\nx"


def test_users_who_have_written_come_first(chats):
    chats.server.send("Hello", user="zoe")
    chats.server.send("Hello", user="yan")
    chat = chats().open()
    chat.find("[data-composer]").send_keys("@")
    chat.wait("!document.querySelector('#completion').hidden")
    assert offered(chat)[:2] == ["yan", "zoe"]
