public import Wire

/// A change of a message that is there.
public struct MessageChange: Sendable {
    /// What is to be done with the message.
    public enum Action: Sendable {
        /// Change what it says; its sender may.
        case edit(Edit)
        /// Leave only its place; its sender may, and who has the authority.
        case delete(Authority)
        /// React to it; everybody may.
        case addReaction(ReactionKey)
        /// Take a reaction of one's own back.
        case removeReaction(ReactionKey)
    }

    /// Whose messages somebody may delete: where the role that somebody has in a room has its effect.
    public enum Authority: Sendable {
        /// One's own.
        case sender
        /// Everybody's: an owner of the room.
        case owner
    }

    /// The message's place.
    public var seq: Int64
    /// What is to be done with it.
    public var action: Action
    /// What must hold of the message for that to be done.
    public var condition: RevisionCondition?

    /// A change of the message at `seq`.
    public init(seq: Int64, action: Action, condition: RevisionCondition? = nil) {
        self.seq = seq
        self.action = action
        self.condition = condition
    }

    /// True if a message may be changed so.
    public enum Decision: Sendable, Hashable {
        /// It may.
        case go
        /// It is as it should be already: a deleted message is deleted, and has no reactions.
        case done
    }

    /// Decides whether `user` may change `message` so. An edit that is repeated with the revision that it was made on is
    /// done already. The sender is asked for before anything else, so that nobody
    /// learns from a refusal what others may.
    ///
    /// - Throws: 403 `not_the_sender`, 409 `message_deleted`, 412 `precondition_failed`.
    public func decide(on message: Message, by user: UserID) throws(Problem) -> Decision {
        switch action {
        case .edit, .delete(.sender): guard message.sender == user else { throw .notTheSender }
        case .delete(.owner), .addReaction, .removeReaction: break
        }
        if message.deleted {
            switch action {
            case .edit, .addReaction: throw .messageDeleted
            // It is what was asked for, whatever revision the client has seen (RFC 9110, section 13.1.1).
            case .delete, .removeReaction: return .done
            }
        }
        if let condition, !condition.holds(for: message.rev) {
            if isRepeated(on: message, condition) { return .done }
            throw .preconditionFailed(rev: message.rev)
        }
        return .go
    }

    /// True for an edit that has been made already: its answer was lost, and the client sends it again with the revision
    /// that it has seen. The message has been edited since that revision, and says what the edit asks for. A server may
    /// answer as if it had just been done (RFC 9110, section 13.1.1).
    private func isRepeated(on message: Message, _ condition: RevisionCondition) -> Bool {
        guard case .edit(let edit) = action, message.editedAt != nil,
            condition.revs.contains(where: { $0 > 0 && $0 < message.rev }),
            let content = try? edit.applied(to: message.content)
        else { return false }
        return content.isSame(as: message.content)
    }
}

/// The revisions of which a message must have one to be changed: the header `If-Match` (RFC 9110, section 13.1.1).
public struct RevisionCondition: Sendable, Hashable {
    /// The revisions; with none of them, no message may be changed.
    public var revs: [Int64]

    /// A condition that holds at these revisions.
    public init(revs: [Int64]) {
        self.revs = revs
    }

    /// Returns whether a message at this revision may be changed.
    public func holds(for rev: Int64) -> Bool { revs.contains(rev) }
}
