// Sending (rules 17 to 19).

extension Timeline {
    mutating func send(_ draft: Draft, at time: Int64) {
        let id = draft.sendID
        if id.string.isEmpty || outbox.contains(id) || window?.hasOwn(id) == true { return }
        if heldSends.contains(where: { $0.sendID == id }) { return }
        outbox.append(.init(id: id, draft: draft, at: time, state: .queued))
        if window != nil { return jump(to: .last) }
        if let opening, opening.at == .last, opening.fetch.request != nil || opening.fetch.wait != nil { return }
        beginOpening(at: .last)
    }

    mutating func postNext() {
        // Without an epoch, the answer would not say which history the message is in.
        if outbox.isEmpty || post != nil || posting.wait != nil || epoch == nil { return }
        guard let send = outbox.sends.first(where: { $0.state == .queued }) else { return }
        outbox.setState(.sending, of: send.id)
        post = (send.id, false)
        effects.append(.post(send.draft))
    }

    /// Ends the POST under way. Returns nil if the answer belongs to another POST; otherwise true if the POST's epoch
    /// is over.
    private mutating func endPost(_ id: SendID) -> Bool? {
        guard let post, post.id == id else { return nil }
        self.post = nil
        return post.isOutdated
    }

    mutating func takeSent(_ message: Message, id: SendID) {
        let isOutdated = endPost(id)
        if isOutdated == true { return outbox.setState(.queued, of: id) }
        if isOutdated == false { posting.succeed() }
        guard ClosedRange.timelineNumbers.contains(message.seq) else { return }
        // The answer gives another place than the one known, so it belongs to an epoch that the frames have not reached
        // yet.
        if let known = heldSends.first(where: { $0.sendID == id }), known.seq != message.seq { return }
        learn(message, isAnswer: true)
    }

    mutating func takeSendFailure(_ failure: Failure, id: SendID) {
        // A send that was seen stored meanwhile is not posted again.
        guard let isOutdated = endPost(id), outbox.contains(id) else { return }
        if failure.isTemporary {
            outbox.setState(.queued, of: id)
            posting.failAndWait(now: elapsed, retryAfter: failure.retryAfter)
        } else if isOutdated {
            outbox.setState(.queued, of: id)
        } else {
            outbox.setState(.failed(code: failure.code), of: id)
        }
    }

    mutating func retrySend(_ id: SendID) {
        guard case .failed = outbox.state(of: id), var send = outbox.remove(id) else { return }
        send.state = .queued
        outbox.append(send)
    }

    mutating func discardSend(_ id: SendID) {
        guard case .failed = outbox.state(of: id) else { return }
        outbox.remove(id)
    }

    /// Removes a stored message of this user from the outbox, whatever event has shown it (rule 19).
    mutating func land(_ message: Message) {
        guard !outbox.isEmpty, let id = message.sendID, isMine(message), outbox.contains(id) else { return }
        // A wait belongs to the first queued send. It ends if that send turns out to be stored.
        if posting.wait != nil, outbox.sends.first(where: { $0.state == .queued })?.id == id { posting.succeed() }
        outbox.remove(id)
        landed.insert(id)
    }

    func isLanded(_ message: Message) -> Bool {
        guard !landed.isEmpty, let id = message.sendID else { return false }
        return landed.contains(id) && isMine(message)
    }

    /// Own sends stored beyond a gap, by `seq`. They are drawn below the window and above the unsent ones (rule 19).
    var heldSends: [Message] {
        if landed.isEmpty || held.isEmpty { return [] }
        return held.values.filter { message in
            isLanded(message) && message.sendID.map { window?.hasOwn($0) ?? false } == false
        }.sorted { $0.seq < $1.seq }
    }
}
