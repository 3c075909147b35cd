/// The sentences of the page at `/docs`, as HTML.
enum DocsText {
    static let introduction = """
        <h1>What goes over the socket</h1>
        <p>A room is a log. Every message has a <code>seq</code>, its place in the room: 1, 2, 3 … without holes. Every \
        change takes the room’s next <code>rev</code>. A subscription is like the page of changes after a <code>rev</code>, except that \
        it never ends: a page and a subscription from its <code>rev</code> join without a gap or a duplicate.</p>
        <pre>GET /v1/rooms/lobby/messages?limit=30       <i>the screen: … "rev":7,"epoch":"RNmy…"}</i>
        GET /v1/rooms/lobby/live?since=RNmy…:7      <i>and everything that follows, on a WebSocket</i>

        <i>←</i> {"type":"subscribed","room":"lobby","head":5,"rev":8,"epoch":"RNmy…"}
        <i>←</i> {"type":"message","message":{…,"seq":2,"rev":8,…}}     <i>edited meanwhile</i>
        <i>←</i> {"type":"live","room":"lobby","rev":8}                 <i>replay ends here</i>
        <i>←</i> {"type":"presence","room":"lobby","online":2}
        <i>→</i> {"type":"typing"}
        <i>←</i> {"type":"message","message":{…,"seq":6,"rev":9,…}}     <i>new</i>

        GET /v1/rooms/lobby/live?since=RNmy…:9      <i>after a lost connection</i></pre>
        """

    static let opening = """
        <h2 id="opening">Opening</h2>
        <ul>
        <li><code>GET /v1/rooms/{room}/live?since=…</code> subscribes to one room: as a WebSocket (RFC 6455) if the request asks for the \
        upgrade, as Server-Sent Events if it has <code>Accept: text/event-stream</code>.</li>
        <li><code>GET /v1/live</code> is one WebSocket for many rooms; the client subscribes with frames.</li>
        <li>A server with keys takes <code>Authorization: Bearer TOKEN</code>. Browsers cannot set headers on a WebSocket: there use \
        the subprotocols <code>new WebSocket(url, ["backscroll.v1", "bearer." + token])</code>, or \
        <code>?access_token=TOKEN</code>. In open mode <code>?user=NAME</code> says who you are.</li>
        <li>The server answers a refused request with an HTTP status and <code>application/problem+json</code>: 400, 401, 403, \
        404, 410, 426, 429, 503. Web pages cannot see these. So the server opens a WebSocket that offers the subprotocol \
        <code>backscroll.v1</code> even then, sends an <code>error</code> frame with <code>code</code>, <code>message</code> and, where \
        they apply, <code>room</code> and <code>retry_after</code>, and closes it with a <a href="#closing">code</a> from 4400 on. A \
        page whose <code>Origin</code> is not allowed gets 403 all the same.</li>
        <li>Messages are compressed if the client offers <code>permessage-deflate</code> (RFC 7692).</li>
        </ul>
        <p>A frame is a text message with one JSON object, named by its <code>type</code>. Ignore types and fields that you do \
        not know.</p>
        """

    static let coming = """
        <p>Messages come in ascending <code>rev</code>, and none is left out: the server reads the database for a client that \
        is slow, at the client's pace. <b>Notices</b> (<code>typing</code>, <code>read</code>, <code>presence</code>) are not stored. \
        They are never replayed, each comes at most once in one or two seconds, and they are the first to be dropped: for clients \
        that are behind or slow, and in rooms with thousands of subscribers.</p>
        """

    static let events = """
        <h2 id="events">As Server-Sent Events</h2>
        <p>The same frames, each the <code>data</code> of an event that is named by its type. <code>subscribed</code>, \
        <code>message</code> and <code>live</code> carry an <code>id</code>, <code>EPOCH:REV</code>: the position to resume from. When \
        an <code>EventSource</code> reconnects by itself, it sends the latest one as <code>Last-Event-ID</code>, which takes precedence \
        over <code>since</code>. A comment every 15 seconds keeps a quiet stream alive. Clients cannot send on a stream: send \
        <code>typing</code> on a socket.</p>
        <p>If the first request of an <code>EventSource</code> is refused, it gets a status and is <code>CLOSED</code>. If the server \
        refuses a reconnection, because the token has expired, for example, the source receives an <code>error</code> event with the \
        <code>code</code> in its <code>data</code>. An <code>error</code> event without <code>data</code> is the browser’s own: the \
        connection is lost. Handle the code and call <code>close()</code>; a source that is not closed reconnects after \
        <code>retry</code>. After a permanent refusal the answer is then 204, which ends it; after 429, 500 and 503 the stream resumes \
        from its position.</p>
        <pre>event: message
        id: RNmyYL9bWlAE2Ja9ThuN:7
        data: {"type":"message","message":{"room":"lobby","seq":5,"rev":7,…}}</pre>
        """

    static let resuming = """
        <h2 id="resuming">Coming back</h2>
        <p>Keep a position for each room, and reconnect with <code>since=EPOCH:REV</code>. The page that opens the screen sets \
        the position to its <code>epoch</code> and <code>rev</code>. Each <code>message</code> that you receive on the \
        subscription moves it to the message’s <code>rev</code>, and <code>live</code> to that of <code>live</code>. Nothing else \
        moves it. The <code>rev</code> in the answer to a send is not a position, since changes of others with a lower <code>rev</code> \
        may still be on their way to you. Neither is the <code>rev</code> of <code>subscribed</code>, of a room, or of a page \
        that you load later.</p>
        <p>The messages that changed meanwhile come first, each once, as they are now. If the server was restored from a backup, \
        it refuses a cursor of the old history with 410 <code>cursor_unknown</code>, on \
        <code>/v1/live</code> with an <code>error</code> frame: drop what you hold and load the room again.</p>
        <p>The server pings every 30 seconds by default; it disconnects a client that leaves two pings unanswered.</p>
        """
}
