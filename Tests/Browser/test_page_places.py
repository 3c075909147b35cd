"""The chat page at `/`: jumps to other places of a room, and the ways back."""

from conftest import fill
from test_page_days import import_messages

RETURN = "document.querySelector('[data-return]')?.checkVisibility()"


def leap(chat):
    """Jumps to a quoted message far above, and returns the row and the place from which the reader came."""
    fill(chat.server, 120)
    chat.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 3})
    chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 121})
    chat.open()
    key = chat.wait_text("An answer")
    chat.scroll(-60)
    chat.wait(f"!{chat.at_bottom()}")
    top = chat.top(key)
    chat.click("[data-jump='3']")
    chat.wait("document.querySelector('.row[data-seq=\"3\"][data-found]')")
    chat.wait(RETURN)
    return key, top


def assert_returned(chat, key, top):
    chat.wait(f"document.querySelector('[data-key=\"{key}\"]')?.checkVisibility()")
    chat.wait(f"Math.abs(document.querySelector('[data-key=\"{key}\"]').getBoundingClientRect().top - {top}) < 1")
    chat.wait(f"!{RETURN}")


def test_button_returns_from_a_quoted_message(chat):
    key, top = leap(chat)
    chat.click("[data-return]")
    assert_returned(chat, key, top)


def test_browser_returns_from_a_quoted_message_and_goes_there_again(chat):
    key, top = leap(chat)
    assert "at=3" in chat.driver.current_url
    chat.driver.back()
    assert_returned(chat, key, top)
    chat.driver.forward()
    chat.wait("document.querySelector('.row[data-seq=\"3\"][data-found]')")
    chat.wait(RETURN)


def test_way_back_to_the_list_passes_over_jumps(chat):
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat.server.request("PUT", "/v1/rooms/lobby/members/alice?user=bob", {"role": "member"})
    fill(chat.server, 3)
    chat.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 1})
    # A tab of its own, with no history of other tests.
    first = chat.driver.current_window_handle
    chat.driver.switch_to.new_window("tab")
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait_for("[data-room-item=lobby]")
    chat.click("[data-room-item=lobby] a")
    chat.wait_text("An answer")
    chat.click("[data-jump='1']")
    chat.wait("location.search.includes('at=1')")
    # The driver repeats a script that leaves the entry of the history in which it runs.
    chat.run("setTimeout(() => document.querySelector('#back').click())")
    chat.wait("location.search === '?user=alice'")
    assert not chat.find("#screen").is_displayed()
    chat.driver.close()
    chat.driver.switch_to.window(first)


def test_second_press_of_the_back_button_stays_in_the_app(chat):
    chat.server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open"})
    fill(chat.server, 3)
    first = chat.driver.current_window_handle
    chat.driver.switch_to.new_window("tab")
    for _ in range(2):
        chat.driver.get(f"{chat.server.url}/?user=alice")
        chat.click("[data-room-item=lobby] a")
        chat.wait("document.querySelector('.row')")
        chat.run("setTimeout(() => { for (let press = 0; press < 2; press++) document.querySelector('#back').click(); })")
        chat.wait("location.search === '?user=alice' && !document.querySelector('#screen').offsetParent")
        # The button works again.
        chat.click("[data-room-item=lobby] a")
        chat.wait("document.querySelector('.row')")
        chat.run("setTimeout(() => document.querySelector('#back').click())")
        chat.wait("location.search === '?user=alice' && !document.querySelector('#screen').offsetParent")
    chat.driver.close()
    chat.driver.switch_to.window(first)


DIALOG = "document.querySelector('dialog[open]')"
LOBBY = "document.querySelector('#screen').checkVisibility() && location.search.includes('room=lobby')"


def enter_from_the_list(chat):
    """Opens the lobby from the list in a tab of its own, and returns the tab that was open before."""
    first = chat.driver.current_window_handle
    chat.driver.switch_to.new_window("tab")
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat.server.request("PUT", "/v1/rooms/lobby/members/alice?user=bob", {"role": "member"})
    fill(chat.server, 3)
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.click("[data-room-item=lobby] a")
    chat.wait(LOBBY)
    chat.wait_for(".row[data-seq='3']")
    return first


def test_back_closes_a_dialog_and_then_leaves_the_room(chat):
    first = enter_from_the_list(chat)
    entries = chat.run("return history.length")
    for opener in "#members", ".row [data-menu]", "#date":
        chat.click(opener)
        chat.wait(DIALOG)
        chat.driver.back()
        chat.wait(f"!{DIALOG}")
        assert chat.run(f"return {LOBBY}")
    assert chat.run("return history.length") == entries + 1
    chat.driver.back()
    chat.wait("location.search === '?user=alice'")
    chat.driver.close()
    chat.driver.switch_to.window(first)


def test_closed_dialog_is_no_step_of_the_way_back(chat):
    first = enter_from_the_list(chat)
    entries = chat.run("return history.length")
    for opener in "#members", ".row [data-menu]":
        chat.click(opener)
        chat.wait(DIALOG)
        chat.run("document.querySelector('dialog[open]').close()")
    assert chat.run("return history.length") == entries + 1
    chat.driver.back()
    chat.wait("location.search === '?user=alice'")
    chat.driver.forward()
    chat.wait(LOBBY)
    # The button goes to the list, too.
    chat.click("#members")
    chat.wait(DIALOG)
    chat.run("document.querySelector('dialog[open]').close(); setTimeout(() => document.querySelector('#back').click())")
    chat.wait("location.search === '?user=alice'")
    chat.driver.close()
    chat.driver.switch_to.window(first)


def test_way_back_to_the_list_is_there_after_more_jumps_than_a_browser_keeps(chat):
    first = enter_from_the_list(chat)
    chat.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"text": "An answer", "reply_to": 1})
    chat.wait_text("An answer")
    chat.run("for (let count = 0; count < 60; count++) document.querySelector('[data-jump=\"1\"]').click()")
    chat.wait("location.search.includes('at=1')")
    assert chat.run("return history.length") == 50
    chat.run("setTimeout(() => document.querySelector('#back').click())")
    chat.wait("location.search === '?user=alice'")
    assert not chat.find("#screen").is_displayed()
    chat.driver.close()
    chat.driver.switch_to.window(first)


def test_back_returns_from_a_jump_that_a_dialog_has_made(chat):
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    fill(chat.server, 120)
    chat.server.request("PUT", "/v1/rooms/lobby/messages/3/pin?user=bob")
    chat.server.request("PUT", "/v1/rooms/lobby/members/alice?user=bob", {"role": "member"})
    chat.server.request("PUT", "/v1/rooms/lobby/read?user=alice", {"seq": 120})
    chat.open()
    chat.wait_for(".row[data-seq='120']")
    key = "120"
    chat.scroll(-60)
    chat.wait(f"!{chat.at_bottom()}")
    top = chat.top(key)
    chat.click("#pin-list")
    chat.click("#found button.found")
    chat.wait("document.querySelector('.row[data-seq=\"3\"][data-found]')")
    chat.driver.back()
    assert_returned(chat, key, top)


def test_date_stands_over_the_list_while_the_reader_scrolls(chat):
    import_messages(chat.server, [(f"June {number}", "2026-06-10T12:00:00Z") for number in range(60)])
    chat.open(at=60)
    chat.wait_text("June 59")
    assert not chat.find("[data-date]").is_displayed()
    chat.scroll(-900)
    chat.wait("document.querySelector('[data-date]')?.checkVisibility()")
    assert chat.find("[data-date]").text == "Wednesday, June 10, 2026"
    chat.wait("!document.querySelector('[data-date]')?.checkVisibility()")


def test_reader_goes_to_a_day(chat):
    import_messages(chat.server, [
        (f"Day {day}, {number}", f"2026-06-{day:02}T12:{number:02}:00Z") for day in range(1, 29) for number in range(20)])
    chat.open(at=560)
    chat.wait_text("Day 28, 19")
    chat.click("#date")
    assert chat.run("return document.querySelector('#date-value').value") == "2026-06-28"

    def go(day):
        chat.run("document.querySelector('#date-value').value = arguments[0]", day)
        chat.click("#date-dialog .primary")

    go("2026-06-07")
    chat.wait("document.querySelector('.row[data-found] .text')?.textContent === 'Day 7, 0'")
    assert chat.is_in_sight(".row[data-found]")
    chat.click("[data-return]")
    chat.wait_text("Day 28, 19")

    chat.click("#date")
    chat.run("document.querySelector('#date-value').removeAttribute('max')")
    go("2026-07-01")
    chat.wait("document.querySelector('#date-error').textContent === 'There are no messages from that day on.'")
