import WebSocket
import Wire

/// The frames that the page at `/docs` explains, with an example of each, and the close codes.
enum DocsFrames {
    /// A kind of frame.
    struct Frame {
        var type: String
        var example: String
        /// HTML.
        var text: String
    }

    private static let room = try! RoomID("lobby")
    private static let user = try! UserID("bob")

    /// Examples of what the server sends beside messages, as it writes them.
    static let notices: [(frame: ServerFrame, text: String)] = [
        (
            .subscribed(room: room, head: 5, rev: 7, epoch: "RNmyYL9bWlAE2Ja9ThuN"),
            "The first frame of a subscription: the room’s highest <code>seq</code>, its revision, and the history that "
                + "both belong to."
        ),
        (
            .live(room: room, rev: 7),
            "Once, where the past ends; at once when there is none. Whatever follows happens now."
        ),
        (
            .typing(room: room, user: user),
            "A user is writing. Show it for 6 seconds, or until their message comes."
        ),
        (.read(room: room, user: user, seq: 4), "A user’s read mark has moved, on whatever device."),
        (
            .presence(room: room, online: 3),
            "How many are there: users, each once, and sockets without a name. After <code>live</code>, then when it "
                + "has changed."
        ),
        (
            .error(.notSubscribed, room: "lobby"),
            "A frame of yours could not be served, or a subscription on <code>/v1/live</code> has ended. The socket "
                + "stays open. The codes are those of the HTTP answers, and \(frameCodes)."
        ),
    ]

    private static let frameCodes = Problem.Code.ofFrames.map { "<code>\($0)</code>" }.joined(separator: ", ")

    /// What the server sends.
    static let ofServer: [Frame] = {
        let snapshot =
            #"{"room":"lobby","seq":5,"rev":7,"sender":"alice","client_message_id":"3f1c","text":"hello","#
            + #""created_at":"2026-11-21T02:13:41.973Z"}"#
        var message: [UInt8] = []
        ServerFrame.appendMessage(snapshot.utf8Span.span, to: &message)
        var frames = notices.map { notice in
            var bytes: [UInt8] = []
            notice.frame.encode(into: &bytes)
            return Frame(
                type: notice.frame.type.description, example: String(decoding: bytes, as: UTF8.self), text: notice.text)
        }
        frames.insert(
            Frame(
                type: "message", example: String(decoding: message, as: UTF8.self),
                text: """
                    A message as it is now: new, edited, deleted or reacted to, all the same. Replace what you hold \
                    under its <code>seq</code> if its <code>rev</code> is higher. Your own sends come too: the echo is \
                    the one whose <code>sender</code> you are and whose <code>client_message_id</code> you wait for.
                    """), at: 1)
        return frames
    }()

    /// What the client sends.
    static let ofClient: [Frame] = [
        Frame(
            type: "subscribe",
            example: #"{"type":"subscribe","room":"lobby","since":7,"epoch":"RNmyYL9bWlAE2Ja9ThuN"}"#,
            text: """
                On <code>/v1/live</code>. Without <code>since</code> from now on; with it, what has changed since comes \
                first. <code>"since":"EPOCH:REV"</code> does the same. Up to 1,000 rooms a socket.
                """),
        Frame(
            type: "subscribe", example: #"{"type":"subscribe","rooms":"mine"}"#,
            text: """
                On <code>/v1/live</code>, to all rooms that you are a member of, from now on, and to those that you join \
                later. Rooms that you are subscribed to stay as they are: name those first that have a <code>since</code>.
                """),
        Frame(
            type: "unsubscribe", example: #"{"type":"unsubscribe","room":"lobby"}"#,
            text:
                "On <code>/v1/live</code>, or with <code>\"rooms\":\"mine\"</code>. It has no answer; nothing of the room comes "
                + "afterwards."),
        Frame(
            type: "typing", example: #"{"type":"typing","room":"lobby"}"#,
            text: """
                Say it every 3 seconds while the user types. On a room’s own socket the room goes without saying. It \
                needs a name.
                """),
        Frame(
            type: "token", example: #"{"type":"token","token":"eyJhbGciOi…"}"#,
            text: """
                A new token of the same user, before the old one ends. Rooms of <code>/v1/live</code> that it is not \
                for are left.
                """),
    ]

    /// With what the server closes WebSockets.
    static let closeCodes: [(code: CloseCode, text: String)] = [
        (.normalClosure, "The answer to your own close."),
        (.goingAway, "The server stops. Come back after a random delay, with what you have seen."),
        (.protocolError, "A frame broke the rules of RFC 6455."),
        (.unsupportedData, "A binary frame: frames are JSON, as text."),
        (.invalidPayloadData, "A frame that is no JSON, or no UTF-8."),
        (.policyViolation, "A frame that is JSON, but no object."),
        (.messageTooBig, "A frame of more than 64 KiB, or what the server is set to."),
        (.internalError, "A mistake of the server. Come back."),
        (.tryAgainLater, "The history cannot be read at the moment. Come back."),
        (.badRequest, "The request for the socket cannot be read: see the error frame. Mend the client."),
        (.tokenExpired, "The token is missing, invalid or expired. Get a new one and come back."),
        (.notMember, "You may not read the room, or no longer. Do not come back."),
        (.roomDeleted, "The room has been deleted, or there is none that you may know of. Do not come back."),
        (
            .noProgress,
            "You took nothing for 60 seconds, or what the server is set to, while there was something to take. You may "
                + "see a bare end instead."
        ),
        (.cursorUnknown, "Your position belongs to another history. Load the room afresh."),
        (
            .tooManyFrames,
            "More than 200 frames in a second, on <code>/v1/live</code> 1,200; or a limit, and then <code>retry_after</code> in "
                + "the error frame says when to come back."
        ),
        (.unavailable, "The server cannot serve you at the moment. Come back after <code>retry_after</code> seconds."),
    ]
}
