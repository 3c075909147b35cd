"""The chat page at `/` when the network goes and comes back, and when requests have no answer."""

import pytest

CONNECTION = "document.querySelector('#connection').textContent"


def set_offline(chat, is_offline):
    """Takes the browser's network away, or gives it back. Sockets that are open stay open, as on a device."""
    chat.driver.execute_cdp_cmd("Network.enable", {})
    chat.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})


@pytest.fixture
def network(chat):
    """Sets the network of a page, which comes back at the end."""
    yield lambda is_there: set_offline(chat, not is_there)
    set_offline(chat, False)


def test_offline_is_said_at_once_and_the_page_goes_on_when_the_network_is_back(chat, network):
    chat.open()
    network(False)
    chat.wait(f"{CONNECTION} === 'Offline'")
    assert chat.status("connection") == "offline"
    chat.type("Written offline")
    chat.wait_for(".row:not([data-state=stored])")
    chat.server.send("Sent meanwhile", user="bob")
    network(True)
    chat.wait_text("Sent meanwhile")
    chat.wait("document.querySelectorAll('.row[data-state=stored]').length === 2")
    chat.wait_live()
    assert chat.run(f"return {CONNECTION}") == ""


def test_list_of_rooms_says_that_there_is_no_network(chat, network):
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait_for("#me .avatar")
    assert not chat.find("#network").is_displayed()
    network(False)
    chat.wait("document.querySelector('#network').textContent === 'Offline'")
    assert chat.find("#network").is_displayed()
    network(True)
    chat.wait("document.querySelector('#network').textContent === ''")


def test_request_without_an_answer_is_said_until_there_is_one(chat):
    chat.open()
    chat.run("window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError())")
    chat.type("Unanswered")
    chat.wait(f"{CONNECTION} === 'Server not answering'")
    assert chat.status("connection") == "live"
    chat.run("window.fetch = window.real")
    chat.wait("document.querySelector('.row[data-state=stored]')")
    chat.wait(f"{CONNECTION} === ''")


def test_socket_that_works_ends_the_word_of_a_missed_answer(chat):
    chat.open()
    chat.run("window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError())")
    chat.type("Unanswered")
    chat.wait(f"{CONNECTION} === 'Server not answering'")
    chat.wait(f"{CONNECTION} === ''")
    assert chat.status("connection") == "live"
