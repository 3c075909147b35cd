/// The number of a subscription. It is higher than those of all earlier subscriptions to the room.
struct SubscriptionNumber: Comparable, Sendable {
    /// The number of the ``Room``: a room that was released can be made anew.
    let generation: Int
    /// The number of the subscription among those of the room.
    var number = 0

    static func < (one: SubscriptionNumber, other: SubscriptionNumber) -> Bool {
        (one.generation, one.number) < (other.generation, other.number)
    }
}

/// A room's place on the socket.
struct Subscription {
    enum Phase {
        /// The next socket will have it.
        case wanted
        /// The server was asked for it.
        case requested
        /// The server has answered with `subscribed`.
        case subscribed
    }

    weak var room: Room?
    var number: SubscriptionNumber
    var since: Int64
    var epoch: String
    var phase = Phase.wanted
    /// The places around the request for it; nil once the answer to the request is known, and where the user's own rooms
    /// cannot have the room.
    var marks: Marks?

    /// Two places on the socket: one after all frames of an earlier subscription, and one after the answer that refuses
    /// the request.
    ///
    /// The server answers an `unsubscribe` from a room that nobody has with an error that names the room. That marks a
    /// place among the frames that it sends.
    struct Marks {
        let first: String
        let last: String
        /// True between the two places.
        var isBetween = false
        /// The room's frames between the two places. They belong to this subscription unless it is refused.
        var events: [ServerEvent] = []

        init(number: Int) {
            let id = "\(Self.prefix)\(number)." + ChatDraft.makeID()
            first = id + ".1"
            last = id + ".2"
        }

        /// The beginning of the ids of rooms that nobody has.
        static let prefix = "backscroll.mark."
    }
}

/// The subscription to the user's own rooms, for the inbox.
struct Following {
    weak var inbox: Inbox?
    /// The number of the inbox.
    let number: Int
    /// True once this socket was asked for the rooms.
    var isRequested = false
    /// Rooms whose subscription a room's screen has left to the inbox.
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
