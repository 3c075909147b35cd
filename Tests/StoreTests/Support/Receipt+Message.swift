import Chat

/// The message of a receipt, or the position of a read mark, for tests that know which it is.
extension Receipt {
    /// The message.
    var message: StoredMessage {
        guard case .message(let message, _) = self else { preconditionFailure("no message: \(self)") }
        return message
    }

    /// The place of the message, or the position of the read mark.
    var seq: Int64 {
        if case .readMark(let seq, _) = self { seq } else { message.seq }
    }

    /// The message's revision.
    var rev: Int64 { message.rev }

    /// The message's snapshot, or the JSON object of a ban or an erasure.
    var body: [UInt8] {
        if case .record(let body, _) = self { body } else { message.body }
    }
}
