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
}

/// The frames that a client sends.
enum ClientText {
    static func subscribe(_ subscription: Subscription, to room: String) -> String {
        #"{"type":"subscribe","room":"\#(room)","since":\#(subscription.since),"epoch":"\#(subscription.epoch)"}"#
    }

    static func unsubscribe(_ room: String) -> String {
        #"{"type":"unsubscribe","room":"\#(room)"}"#
    }

    static func typing(_ room: String) -> String {
        #"{"type":"typing","room":"\#(room)"}"#
    }

    static func token(_ token: String) -> String {
        #"{"type":"token","token":"\#(token)"}"#
    }
}
