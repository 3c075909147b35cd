public import Wire

/// A change of a stored message.
public struct MessageChange: Sendable {
    /// The change to make.
    public enum Action: Sendable {
        /// Edit the content; allowed to the sender.
        case edit(Edit)
        /// Replace the message by a tombstone; allowed to the sender, and to owners of the room.
        case delete
        /// Add a reaction; allowed to everybody.
        case addReaction(ReactionKey)
        /// Remove one's own reaction.
        case removeReaction(ReactionKey)
        /// Pin the message; allowed to owners, and to all members if the room says so.
        case pin
        /// Unpin the message; allowed to the same users.
        case unpin
    }

    /// The message's `seq`.
    public var seq: Int64
    /// The change to make.
    public var action: Action
    /// The revisions at which the message may be changed: the header `If-Match` (RFC 9110, section 13.1.1). `nil`
    /// accepts any revision, an empty array none.
    public var revs: [Int64]?

    /// Creates a change of the message at `seq`.
    public init(seq: Int64, action: Action, revs: [Int64]? = nil) {
        self.seq = seq
        self.action = action
        self.revs = revs
    }

    /// The decision on a change.
    public enum Decision: Sendable, Hashable {
        /// Apply the change.
        case go
        /// Nothing to do: the message already is as requested.
        case done
    }

    /// Decides whether `user` may change `message` in this way. A repeated edit, with the revision that the first one
    /// was based on, counts as done. The sender is checked first, so that a refusal reveals nothing about what others
    /// may do.
    ///
    /// - Parameter isOwner: True if `user` is an owner of the room or an admin.
    /// - Throws: 403 `not_the_sender`, 409 `message_deleted`, 412 `precondition_failed`.
    public func decide(on message: Message, by user: UserID, isOwner: Bool) throws(Problem) -> Decision {
        switch action {
        case .edit: guard message.sender == user else { throw .notTheSender }
        case .delete: guard message.sender == user || isOwner else { throw .notTheSender }
        case .addReaction, .removeReaction: break
        case .pin, .unpin: break  // the room's rules decide, whoever sent it
        }
        if message.deleted {
            switch action {
            case .edit, .addReaction, .pin: throw .messageDeleted
            // The result is what the client asked for, whatever revision it has seen (RFC 9110, section 13.1.1).
            case .delete, .removeReaction, .unpin: return .done
            }
        }
        if let revs, !revs.contains(message.rev) {
            if isRepeated(on: message, revs) { return .done }
            throw .preconditionFailed(rev: message.rev)
        }
        return .go
    }

    /// Returns true for an edit that was already made. Its answer was lost, and the client repeats it with the same
    /// revision. The message was edited after that revision and has the requested content, so the server may answer as
    /// if it had just made the edit (RFC 9110, section 13.1.1).
    private func isRepeated(on message: Message, _ revs: [Int64]) -> Bool {
        guard case .edit(let edit) = action, message.editedAt != nil,
            revs.contains(where: { $0 > 0 && $0 < message.rev }),
            let content = try? edit.applied(to: message.content)
        else { return false }
        return content.isSame(as: message.content)
    }
}
