"""An EventSource resumes by itself, and receives the reason if it cannot."""

# Opens an EventSource, and collects its events: those of the server have data, the browser's own `error` has none.
OPEN = """
    window.log = []
    window.source = new EventSource(arguments[0])
    for (const type of ['subscribed', 'message', 'live', 'error']) {
        source.addEventListener(type, event => log.push(
            {type, id: event.lastEventId, frame: event.data && JSON.parse(event.data), state: source.readyState}))
    }
"""


def open_source(page, server, path):
    page.run(OPEN, server.url + path)


def wait_for(page, condition):
    """Waits for an event that meets a condition on `event`, and returns the first one."""
    return page.wait(f"log.find(event => {condition})")


def texts(page):
    return page.run("return log.filter(event => event.type == 'message').map(event => event.frame.message.text)")


def count_told(page):
    """Returns how often the server has given a reason."""
    return page.run("return log.filter(event => event.type == 'error' && event.frame).length")


def test_resumes_where_it_began_when_it_has_seen_no_message(page, server):
    server.send("before")
    open_source(page, server, "/v1/rooms/lobby/live")
    live = wait_for(page, "event.type == 'live'")
    assert live["id"].endswith(":1")
    server.stop()
    # On another port, so that the EventSource reconnects only after the message is stored.
    port = server.start(port=0)
    server.send("meanwhile", port=port)
    server.stop()
    server.start()
    wait_for(page, "event.type == 'message'")
    server.send("afterwards")
    wait_for(page, "event.type == 'message' && event.frame.message.text == 'afterwards'")
    assert texts(page) == ["meanwhile", "afterwards"]


def test_resumes_behind_its_last_message_when_the_connection_is_cut(page, start_server):
    server = start_server("--faults")
    open_source(page, server, "/v1/rooms/lobby/live?fault=cut-live=1")
    wait_for(page, "event.type == 'live'")
    for text in "one", "two", "three":
        server.send(text)
    wait_for(page, "event.type == 'message' && event.frame.message.text == 'three'")
    assert texts(page) == ["one", "two", "three"]


def test_is_told_that_its_position_belongs_to_another_history_and_ends(page, server):
    server.send("before")
    open_source(page, server, "/v1/rooms/lobby/live?since=0")
    wait_for(page, "event.type == 'live'")
    server.stop()
    server.restore_backup()
    server.start()
    told = wait_for(page, "event.type == 'error' && event.frame")
    assert told["frame"]["code"] == "cursor_unknown" and told["frame"]["room"] == "lobby"
    # The page does not close it. The answer to its next attempt does.
    page.wait("source.readyState == EventSource.CLOSED")
    assert count_told(page) == 1


def test_is_told_that_its_token_has_expired_and_ends(page, tokens):
    # The server accepts it for three seconds more.
    token = tokens.make("alice", -57)
    open_source(page, tokens.server, f"/v1/rooms/lobby/live?access_token={token}")
    wait_for(page, "event.type == 'live'")
    told = wait_for(page, "event.type == 'error' && event.frame")
    assert told["frame"]["code"] == "token_expired"
    page.wait("source.readyState == EventSource.CLOSED")
    assert count_told(page) == 1


def test_that_the_page_closes_when_it_is_told_does_not_come_back(page, server):
    server.send("before")
    open_source(page, server, "/v1/rooms/lobby/live?since=0")
    page.run("source.addEventListener('error', event => { if (event.data) source.close() })")
    wait_for(page, "event.type == 'live'")
    server.stop()
    server.restore_backup()
    server.start()
    wait_for(page, "event.type == 'error' && event.frame")
    # The page loads the room again, and opens a new EventSource.
    first = page.run("const first = source; window.first = first; return first.readyState")
    open_source(page, server, "/v1/rooms/lobby/live")
    wait_for(page, "event.type == 'live'")
    assert first == page.run("return first.readyState") == 2


def test_that_is_refused_at_once_is_closed(page, server, start_server):
    open_source(page, server, "/v1/rooms/lobby/live?since=other:1")
    assert wait_for(page, "event.type == 'error'")["frame"] is None
    page.wait("source.readyState == EventSource.CLOSED")
    # A page of another origin gets no reason, either.
    open_source(page, start_server(allow=None), "/v1/rooms/lobby/live")
    page.wait("source.readyState == EventSource.CLOSED")
    assert count_told(page) == 0
