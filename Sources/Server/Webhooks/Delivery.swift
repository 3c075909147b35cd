import Chat
import Signatures
import Store
import Webhooks
import Wire

/// A body for a receiver, and its id. The same delivery has the same ones, also after a restart.
struct Delivery: Sendable {
    let body: [UInt8]
    /// The value of `webhook-id`.
    let id: String

    /// Creates a delivery.
    ///
    /// - Parameter name: A text that no other delivery has. The id follows from it.
    init(_ body: [UInt8], name: String) {
        self.body = body
        id = Self.id(name)
    }

    /// Creates a delivery of changed messages that follow a revision.
    init(_ content: DeliveredMessages, in room: RoomID, since: Int64, to webhook: WebhookID, epoch: String) {
        var body: [UInt8] = []
        body.reserveCapacity(content.messages.count + 256)
        body.append(literal: #"{"type":"messages","room":"#)
        body.append(quoted: room.string)
        body.append(member: "since", since)
        body.append(literal: #","messages":["#)
        body.append(contentsOf: content.messages)
        body.append(UInt8(ascii: "]"))
        body.append(member: "rev", content.rev)
        body.append(member: "has_more", content.hasMore)
        body.append(member: "epoch", epoch)
        body.append(UInt8(ascii: "}"))
        self.init(body, name: "\(webhook) \(epoch) \(room) \(since) \(content.rev) false")
    }

    /// Creates a delivery of an event.
    init(_ event: PendingEvent, in room: RoomID, to webhook: WebhookID, epoch: String) {
        let body = event.event.body(
            in: room == .server ? nil : room, number: event.number, rev: event.rev, at: event.at, epoch: epoch)
        self.init(body, name: "\(webhook) \(epoch) \(room) event \(event.number)")
    }

    /// Creates a delivery that tells that a room was deleted.
    init(deletionOf room: RoomID, after rev: Int64, to webhook: WebhookID, epoch: String) {
        var body: [UInt8] = []
        body.append(literal: #"{"type":"room.deleted","room":"#)
        body.append(quoted: room.string)
        body.append(member: "epoch", epoch)
        body.append(UInt8(ascii: "}"))
        self.init(body, name: "\(webhook) \(epoch) \(room) \(rev) \(rev) true")
    }

    /// Creates a delivery that tells a new epoch.
    init(epoch: String, to webhook: WebhookID) {
        var body: [UInt8] = []
        body.append(literal: #"{"type":"epoch","epoch":"#)
        body.append(quoted: epoch)
        body.append(UInt8(ascii: "}"))
        self.init(body, name: "\(webhook) \(epoch)")
    }

    /// Creates a delivery that an admin asks for. No other one has its id.
    init(testOf webhook: WebhookID) {
        var body: [UInt8] = []
        body.append(literal: #"{"type":"test","webhook":"#)
        body.append(quoted: webhook.string)
        body.append(UInt8(ascii: "}"))
        self.init(body, name: "\(webhook) test \(UInt64.random(in: 0...(.max)))")
    }

    /// Returns the id that follows from a name.
    static func id(_ name: String) -> String {
        let code = HMACSHA256.code(of: Array(name.utf8)[...], secret: Array("webhook-id".utf8))
        return "msg_" + Base64URL.encode(Array(code.prefix(18)))
    }
}

/// The secrets of a webhook, parsed once for all deliveries.
struct DeliverySigner: Sendable {
    private let secrets: [(secret: WebhookSecret, until: Timestamp?)]

    init(_ webhook: Webhook) {
        secrets = webhook.secrets.compactMap { stored in WebhookSecret(stored.text).map { ($0, stored.until) } }
    }

    /// Returns the headers of a delivery, signed at this time.
    func headers(of delivery: Delivery) -> [(name: String, value: String)] {
        let now = Timestamp.now()
        let valid = secrets.lazy.filter { secret in secret.until.map { now < $0 } ?? true }.map(\.secret)
        let seconds = now.milliseconds / 1000
        return [
            ("Content-Type", "application/json"), ("webhook-id", delivery.id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", Array(valid).signatures(of: delivery.body, id: delivery.id, timestamp: seconds)),
        ]
    }
}
