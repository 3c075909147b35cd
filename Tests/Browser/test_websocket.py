"""A page can read why its WebSocket is refused."""

import pytest

# Opens a WebSocket, and collects its frames and how it is closed.
OPEN = """
    window.log = {frames: [], closed: null}
    const socket = new WebSocket(arguments[0], arguments[1])
    socket.onmessage = event => log.frames.push(JSON.parse(event.data))
    socket.onclose = event => log.closed = {code: event.code, reason: event.reason}
"""


def refusal(page, server, path, protocols=("backscroll.v1",)):
    """Opens a socket that is refused. Returns its frames, and its close code and reason."""
    page.run(OPEN, server.url.replace("http", "ws") + path, list(protocols))
    closed = page.wait("log.closed")
    return page.run("return log.frames"), (closed["code"], closed["reason"])


@pytest.mark.parametrize("path, code, closed", [
    ("/v1/rooms/lobby/live?since=other:1", "cursor_unknown", 4410),
    ("/v1/rooms/lobby/live?since=x", "invalid_cursor", 4400),
    ("/v1/rooms/den/live?user=bob", "room_not_found", 4404),
    ("/v1/live?user=a%20b", "invalid_user", 4400),
])
def test_that_is_refused_tells_the_page_why(page, server, path, code, closed):
    server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "private"})
    frames, end = refusal(page, server, path)
    assert [(frame["type"], frame["code"]) for frame in frames] == [("error", code)]
    assert end == (closed, code)


def test_that_is_refused_for_its_token_tells_the_page_so(page, tokens):
    for path in "/v1/rooms/lobby/live", "/v1/live":
        assert refusal(page, tokens.server, path)[1] == (4401, "token_missing")
        expired = tokens.make("alice", -61)
        assert refusal(page, tokens.server, path, ["backscroll.v1", f"bearer.{expired}"])[1] == (4401, "token_expired")
    elsewhere = tokens.make("alice", rooms=["kitchen"])
    assert refusal(page, tokens.server, "/v1/rooms/lobby/live", ["backscroll.v1", f"bearer.{elsewhere}"])[1] == (
        4403, "room_not_allowed")


def test_that_is_refused_for_a_limit_tells_the_page_when_to_come_back(page, start_server):
    server = start_server("--limit-subscriptions", "1/h:1")
    path = "/v1/rooms/lobby/live?user=alice"
    page.run(OPEN, server.url.replace("http", "ws") + path, ["backscroll.v1"])
    page.wait("log.frames.some(frame => frame.type == 'live')")
    frames, end = refusal(page, server, path)
    assert end == (4429, "rate_limited")
    assert 3500 <= frames[0]["retry_after"] <= 3600


def test_without_the_subprotocol_tells_nothing(page, server):
    assert refusal(page, server, "/v1/rooms/lobby/live?since=other:1", []) == ([], (1006, ""))


def test_of_a_page_of_another_origin_tells_nothing(page, start_server):
    server = start_server(allow=None)
    for path in "/v1/rooms/lobby/live", "/v1/rooms/lobby/live?since=other:1", "/v1/live":
        assert refusal(page, server, path) == ([], (1006, ""))
