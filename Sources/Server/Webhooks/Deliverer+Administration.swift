import Chat
import Store
import Webhooks
import Wire

/// What admins ask of webhooks.
extension Deliverer {
    /// Returns a webhook as a JSON object.
    func describe(_ id: WebhookID, secret: String? = nil) throws -> [UInt8] {
        guard let webhook = try store.webhooks().first(where: { $0.id == id }) else { throw Problem.webhookNotFound }
        return try describe(webhook, secret: secret)
    }

    private func describe(_ webhook: Webhook, secret: String? = nil) throws -> [UInt8] {
        var json: [UInt8] = []
        webhook.encode(try store.backlog(of: webhook.number), secret: secret, into: &json)
        return json
    }

    /// Returns all webhooks as a JSON object.
    func describeAll() throws -> [UInt8] {
        try settle()
        var json: [UInt8] = []
        json.append(literal: #"{"webhooks":["#)
        for (index, webhook) in try store.webhooks().enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json += try describe(webhook)
        }
        json.append(literal: "]}")
        return json
    }

    /// Creates or changes a webhook.
    ///
    /// - Returns: The webhook as a JSON object, with its secret if it is new.
    func set(_ id: WebhookID, _ settings: WebhookSettings) throws -> (json: [UInt8], isNew: Bool) {
        if let url = settings.url, let fault = ReceiverURL.problem(url, rules) {
            throw Problem(code: .invalidField, detail: "url \(fault).", field: "url")
        }
        let secret = WebhookSecret().text
        let isNew = try change { try store.set(id, settings, secret: secret, at: .now()) }
        return (try describe(id, secret: isNew ? secret : nil), isNew)
    }

    func remove(_ id: WebhookID) throws { try change { try store.remove(id) } }

    /// Moves a room's cursor beyond a delivery that the receiver refuses.
    func skip(_ id: WebhookID, _ skip: WebhookSkip) throws -> [UInt8] {
        try change {
            switch skip.place {
            case .rev(let rev):
                // The decoder refuses a revision without a room.
                guard let room = skip.room else { throw Problem.invalidField("room", must: "the id of a room") }
                try store.moveCursor(of: id, in: room, to: rev, skips: true, at: .now())
            case .event(let number): try store.skipEvents(of: id, in: skip.room, upTo: number)
            }
        }
        return try describe(id)
    }

    /// Moves cursors back.
    func replay(_ id: WebhookID, _ replay: WebhookReplay) throws -> [UInt8] {
        try change {
            switch replay.place {
            case .rev(let rev):
                // The decoder refuses a revision without a room.
                guard let room = replay.room else { throw Problem.invalidField("room", must: "the id of a room") }
                try store.moveCursor(of: id, in: room, to: rev, skips: false, at: .now())
            case .time(let time): try store.replay(id, in: replay.room, since: time, at: .now())
            }
        }
        return try describe(id)
    }

    /// Gives a webhook another secret.
    ///
    /// - Parameter hours: The number of hours for which the present one still signs.
    func rotate(_ id: WebhookID, keeping hours: Int64) throws -> [UInt8] {
        let secret = WebhookSecret().text
        try change {
            guard let webhook = try store.webhooks().first(where: { $0.id == id }) else {
                throw Problem.webhookNotFound
            }
            let now = Timestamp.now()
            var secrets = [Webhook.Secret(secret)]
            for old in webhook.secrets where hours > 0 && secrets.count < Self.maximumSecrets {
                let end = Timestamp(milliseconds: now.milliseconds + hours * 3_600_000)
                let until = min(end, old.until ?? end)
                if now < until { secrets.append(Webhook.Secret(old.text, until: until)) }
            }
            try store.setSecrets(secrets, of: id)
        }
        return try describe(id, secret: secret)
    }

    /// Maximum number of secrets that sign at the same time.
    private static let maximumSecrets = 4

    /// Makes a change, and begins the deliveries anew that it concerns.
    private func change<R>(_ body: () throws -> R) throws -> R {
        try settle()
        defer { checkAgain() }
        return try body()
    }

    /// Sends a test event.
    ///
    /// - Parameter then: Called with the receiver's answer as a JSON object.
    func test(_ id: WebhookID, then: @escaping @Sendable ([UInt8]) -> Void) throws {
        guard let webhook = try store.webhooks().first(where: { $0.id == id }) else { throw Problem.webhookNotFound }
        let delivery = Delivery(testOf: id)
        sender.post(
            webhook.url, headers: DeliverySigner(webhook).headers(of: delivery), body: delivery.body,
            timeout: WebhookDeliveries.answerTime
        ) { result in
            var members: [UInt8] = []
            switch result {
            case .success(let answer):
                members.append(member: "received", (200...299).contains(answer.status))
                members.append(member: "status", Int64(answer.status))
            case .failure(let error):
                members.append(member: "received", false)
                members.append(member: "detail", error.description)
            }
            var json: [UInt8] = []
            json.append(literal: #"{"webhook_id":"#)
            json.append(quoted: delivery.id)
            json += [UInt8(ascii: ",")] + members.dropFirst() + [UInt8(ascii: "}")]
            then(json)
        }
    }
}
