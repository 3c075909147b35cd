/// The number of a subscription. It is higher than those of all earlier subscriptions to the room.
struct SubscriptionNumber: Comparable, Sendable {
    /// The number of the ``Room`` object. After a room is released, the client may create another one with the same id.
    let generation: Int
    /// The number of the subscription among those of the room.
    var number = 0

    static func < (one: SubscriptionNumber, other: SubscriptionNumber) -> Bool {
        (one.generation, one.number) < (other.generation, other.number)
    }
}

/// The subscription of an open room.
struct Subscription {
    enum Phase {
        /// The client requests it on the next socket.
        case wanted
        /// The client has requested it.
        case requested
        /// The server has answered with `subscribed`.
        case subscribed
    }

    weak var room: Room?
    var number: SubscriptionNumber
    var since: Int64
    var epoch: String
    var phase = Phase.wanted
    /// True until the replay has ended.
    var isReplaying = true
    /// The revision of the replay's latest message; nil before the first.
    var replayed: Int64?
    /// True while the rest of a replay that the socket's end cut off is requested on the next socket. The room has not
    /// heard of that end.
    var isResuming = false
    /// The marks around the request; nil once the server has answered the request, and if the subscription to `mine`
    /// (docs/live.md) cannot have the room.
    var marks: Marks?

    /// Two marks in the sequence of the server's frames: one after all frames of an earlier subscription, and one after
    /// the answer that refuses the request.
    ///
    /// To set a mark, the client unsubscribes from a room that does not exist. The server answers with an error that
    /// names the room.
    struct Marks {
        let first: String
        let last: String
        /// True between the two marks.
        var isBetween = false
        /// The room's frames between the two marks. They belong to this subscription unless it is refused.
        var events: [ServerEvent] = []

        init(number: Int) {
            let id = "\(Self.prefix)\(number)." + ChatDraft.makeID()
            first = id + ".1"
            last = id + ".2"
        }

        /// The prefix of the room ids in marks.
        static let prefix = "backscroll.mark."
    }
}

/// The subscription to the user's own rooms (`mine`), for the inbox.
struct Following {
    weak var inbox: Inbox?
    /// The number of the inbox.
    let number: Int
    /// True once the client has subscribed to the rooms on this socket.
    var isRequested = false
    /// Rooms whose subscription passed to the inbox when their screen was closed.
    var inherited: Set<String> = []
    /// Rooms that this socket has no space for.
    var givenUp: Set<String> = []
}

/// The frames that a client sends.
enum ClientText {
    static func subscribe(_ subscription: Subscription, to room: String) -> String {
        #"{"type":"subscribe","room":"\#(room)","since":\#(subscription.since),"epoch":"\#(subscription.epoch)"}"#
    }

    static func unsubscribe(_ room: String) -> String {
        #"{"type":"unsubscribe","room":"\#(room)"}"#
    }

    /// Subscribes without a replay.
    static func subscribe(to room: String) -> String {
        #"{"type":"subscribe","room":"\#(room)"}"#
    }

    static let subscribeMine = #"{"type":"subscribe","rooms":"mine"}"#
    static let unsubscribeMine = #"{"type":"unsubscribe","rooms":"mine"}"#

    static func typing(_ room: String) -> String {
        #"{"type":"typing","room":"\#(room)"}"#
    }

    static func token(_ token: String) -> String {
        #"{"type":"token","token":"\#(token)"}"#
    }
}
