/// The sentences of the page at `/docs`, as HTML.
enum DocsText {
    static let introduction = """
        <h1>What goes over the socket</h1>
        <p>A room is a log. Every message has a <code>seq</code>, its place in the room: 1, 2, 3 … without holes. Every \
        change takes the room’s next <code>rev</code>. A subscription is the page after a <code>rev</code> that never ends, \
        so a page joined with a subscription has no gap and no duplicate.</p>
        <pre>GET /v1/rooms/lobby/messages?limit=30       <i>the screen: … "rev":7,"epoch":"RNmy…"}</i>
        GET /v1/rooms/lobby/live?since=RNmy…:7      <i>and all that follows, on a WebSocket</i>

        <i>←</i> {"type":"subscribed","room":"lobby","head":5,"rev":8,"epoch":"RNmy…"}
        <i>←</i> {"type":"message","message":{…,"seq":2,"rev":8,…}}     <i>edited meanwhile</i>
        <i>←</i> {"type":"live","room":"lobby","rev":8}                 <i>here the past ends</i>
        <i>←</i> {"type":"presence","room":"lobby","online":2}
        <i>→</i> {"type":"typing"}
        <i>←</i> {"type":"message","message":{…,"seq":6,"rev":9,…}}     <i>new</i>

        GET /v1/rooms/lobby/live?since=RNmy…:9      <i>after the tunnel</i></pre>
        """

    static let opening = """
        <h2 id="opening">Opening</h2>
        <ul>
        <li><code>GET /v1/rooms/{room}/live?since=…</code> is one room: a WebSocket (RFC 6455) for who asks for the upgrade, \
        Server-Sent Events for who sends <code>Accept: text/event-stream</code>.</li>
        <li><code>GET /v1/live</code> is one WebSocket for many rooms, to which its client subscribes by frames.</li>
        <li>A server that wants tokens takes <code>Authorization: Bearer TOKEN</code>; from browsers, which cannot set headers on a \
        WebSocket, the subprotocols <code>new WebSocket(url, ["backscroll.v1", "bearer." + token])</code>, or \
        <code>?access_token=TOKEN</code>. In open mode <code>?user=NAME</code> says who you are.</li>
        <li>A request that is refused is answered with an HTTP status and <code>application/problem+json</code>: 400, 401, 403, \
        404, 410, 426, 429, 503. Pages cannot see these. So a WebSocket that offers the subprotocol <code>backscroll.v1</code> \
        is opened, told why by an <code>error</code> frame with <code>code</code>, <code>message</code>, <code>room</code> and \
        <code>retry_after</code> where they apply, and closed with a <a href="#closing">code</a> from 4400 on. A page of an \
        <code>Origin</code> that is not allowed gets 403 all the same.</li>
        <li>Messages are compressed for who offers <code>permessage-deflate</code> (RFC 7692).</li>
        </ul>
        <p>A frame is a text message with one JSON object, named by its <code>type</code>. Ignore types and fields that you do \
        not know.</p>
        """

    static let coming = """
        <p>Messages come in ascending <code>rev</code>, and none is ever left out: who is slow is \
        served from disk at its own pace. <b>Notices</b> (<code>typing</code>, <code>read</code>, <code>presence</code>) are in \
        no log. They are never replayed, come at most once in one or two seconds each, and are the first to be dropped: for \
        who is behind or slow, and in rooms of thousands.</p>
        """

    static let events = """
        <h2 id="events">As Server-Sent Events</h2>
        <p>The same frames, each the <code>data</code> of an event that is named by its type. <code>subscribed</code>, \
        <code>message</code> and <code>live</code> carry an <code>id</code>, <code>EPOCH:REV</code>: the position to resume from. An \
        <code>EventSource</code> sends the latest one back as <code>Last-Event-ID</code> when it connects again by itself; it \
        wins over <code>since</code>. A comment every 15 seconds keeps a quiet stream alive. Clients cannot say anything on a \
        stream: send <code>typing</code> on a socket.</p>
        <p>The first request of an <code>EventSource</code> is refused with a status, after which it is <code>CLOSED</code>. When \
        it is refused after connecting again, for a token that has expired, say, it receives an event <code>error</code> with the \
        <code>code</code> in its <code>data</code>. An <code>error</code> event without <code>data</code> is the browser’s own: the \
        connection is lost. Handle the code and call <code>close()</code>; a source that is not closed connects again after \
        <code>retry</code>. If the refusal is for good it is then answered 204, which ends it; after 429, 500 and 503 it resumes \
        from its position.</p>
        <pre>event: message
        id: RNmyYL9bWlAE2Ja9ThuN:7
        data: {"type":"message","message":{"room":"lobby","seq":5,"rev":7,…}}</pre>
        """

    static let resuming = """
        <h2 id="resuming">Coming back</h2>
        <p>Keep a position for each room, and come back with <code>since=EPOCH:REV</code>. The page that opens the screen sets \
        the position to its <code>epoch</code> and <code>rev</code>. Each <code>message</code> that you receive on the \
        subscription moves it to its <code>rev</code>, and <code>live</code> to that of <code>live</code>. Nothing else moves \
        it. The <code>rev</code> in the answer to a send is no position, since changes of others with a lower <code>rev</code> \
        may still be on their way to you. Neither is the <code>rev</code> of <code>subscribed</code>, of a room, or of a page \
        that you load later.</p>
        <p>What changed meanwhile comes first, each message once, as it is now. A cursor that the \
        history does not know, since it was restored from a backup, is refused with 410 <code>cursor_unknown</code>, on \
        <code>/v1/live</code> with an <code>error</code> frame: drop what you hold and load the room afresh.</p>
        <p>The server pings every 30 seconds, if it is not set otherwise; a client that leaves two unanswered is gone.</p>
        """
}
