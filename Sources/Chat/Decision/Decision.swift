public import Wire

/// The decision on one submission: what is stored, and what the client is answered.
///
/// All rules of access and order stand in `Chat/Decision`. A decision reads nothing but the submission and its facts,
/// so the same facts always give the same decision. The store applies the writes in one transaction, in order, and then
/// appends the message.
///
/// A plain value.
public struct Decision: Sendable {
    /// The result, or the reason why the change is refused.
    public var result: Result<Receipt, Problem>
    /// The changes, also some of refused submissions.
    public var writes: [Write]
    /// The message that is sent.
    public var message: NewMessage?

    /// The facts that a decision lacks. Load them, and decide again.
    public struct Lacking: Error, Hashable {
        /// The names of the facts.
        public var names: Facts.Names
    }

    /// Decides a submission.
    ///
    /// - Throws: ``Lacking`` with facts to load.
    public static func make(on submission: Submission, _ facts: Facts) throws(Lacking) -> Decision {
        var rules = Rules(facts: facts)
        do throws(Halt) {
            let receipt = try rules.decide(submission)
            if submission.isTrial { return Decision(result: .success(receipt.ofTrial(facts)), writes: []) }
            return Decision(result: .success(receipt), writes: rules.writes, message: rules.message)
        } catch {
            switch error {
            case .refused(let problem):
                return Decision(result: .failure(problem), writes: submission.isTrial ? [] : rules.writes)
            case .lacks(let names): throw Lacking(names: names)
            }
        }
    }

    /// Returns true if the rules permit a send or a read mark in an existing room, whether or not the send repeats
    /// another or the mark is further on already. A store may then leave these two questions to its database.
    ///
    /// - Returns: False for all that is not ``Submission/isBatched``. False also if facts of the room or the caller are
    ///   missing, if the erased user with the caller's id has left something in the room, if a direct room is hidden from
    ///   a member, if the room is nearly full, or if a send depends on its sender's last one.
    public static func permits(_ submission: Submission, _ facts: Facts) -> Bool {
        guard submission.isBatched, let room = facts.room, !room.isNearlyFull else { return false }
        var rules = Rules(facts: facts)
        do throws(Halt) {
            try rules.checkUse(submission)
            try rules.checkChange(submission)
            if case .send(let draft) = submission.change {
                try rules.checkReply(draft)
                // The send also puts the room into the list of a member.
                if room.direct?.sides.contains(where: \.isHidden) == true { return false }
                if try rules.checkManners(submission) { return false }
            }
        } catch {
            return false
        }
        return rules.writes.isEmpty
    }
}

/// The rules, applied to one submission.
///
/// The facts take on the writes as they are decided.
struct Rules {
    var facts: Facts
    var writes: [Write] = []
    var message: NewMessage?

    mutating func decide(_ submission: Submission) throws(Halt) -> Receipt {
        try checkUse(submission)
        if case .send(let draft) = submission.change, let id = submission.room {
            return try send(draft, to: id, by: submission)
        }
        try checkChange(submission)
        if case .user(let user, let change) = submission.change { return try self.change(user, change, by: submission) }
        guard submission.room != nil else { throw .refused(.roomNotFound) }
        switch submission.change {
        case .send: throw .refused(.roomNotFound)
        case .change(let change): return try self.change(change, by: submission)
        case .read(let seq): return try read(to: seq, by: submission.sender)
        case .room(let change): return try self.change(change, by: submission)
        case .user: preconditionFailure("done above")
        }
    }

    // MARK: Access

    /// Checks that the caller may use the room at all, as ``ReadRules`` do for a reader.
    mutating func checkUse(_ submission: Submission) throws(Halt) {
        if submission.room != nil {
            try facts.require(.room)
            try separate(submission)
            try checkAccess(submission)
        }
        try checkBans(submission, for: .read)
    }

    /// Checks that neither a block nor a ban keeps a caller who may use the room from this change.
    func checkChange(_ submission: Submission) throws(Halt) {
        if let direct = facts.room?.direct { try checkDirect(direct, submission) }
        if !submission.isOfReader { try checkBans(submission, for: .change) }
    }

    private func checkAccess(_ submission: Submission) throws(Halt) {
        guard let id = submission.room else { return }
        switch (submission.change, facts.room) {
        // A block is possible whatever became of the direct room of the two.
        case (.room(.setBlock), _): return
        // An admin may also decide on a report of a message whose room was deleted.
        case (.room(.closeReport), _): return
        // Its rule looks at both members.
        case (.room(.setDirect), _): return
        // These create the room. Only `setDirect` makes a direct one.
        case (.send, nil), (.room(.set), nil):
            let isAllowed = submission.isAdmin || !facts.policy.roomsByAdminsOnly
            guard isAllowed, !id.isDirect else { throw .refused(.roomNotFound) }
        // A report names a message, which the rooms that are open before their first use do not have.
        case (.room(.report), _): try checkVisibility(submission, in: id)
        case (.room, nil): throw .refused(.roomNotFound)
        // Changes of users have no room.
        case (.user, nil): return
        default: try checkVisibility(submission, in: id)
        }
    }

    /// Checks that the caller may see the room.
    private func checkVisibility(_ submission: Submission, in id: RoomID) throws(Halt) {
        let room = facts.room.map { ($0.isPrivate, $0.isDeleted) }
        let refusal = try ReadRules.refusal(of: id, room, isAdmin: submission.isAdmin, facts.policy) {
            () throws(Halt) in
            try facts.require(.role)
            return facts.role != nil
        }
        if let refusal { throw .refused(refusal) }
    }

    /// Checks that one of a direct room may change what the other one sees. What a member withdraws of their own, and read
    /// marks, bring the other one nothing. Deletions of the other's messages are refused where the message is known.
    private func checkDirect(_ direct: DirectRoom, _ submission: Submission) throws(Halt) {
        let user = submission.sender
        switch submission.change {
        case .send: try checkIsNotOver(direct, for: user)
        case .change(let change):
            switch change.action {
            case .edit, .addReaction, .pin: try checkIsNotOver(direct, for: user)
            case .unpin: break
            case .delete, .removeReaction: return
            }
        case .room(.set): break
        case .read, .room, .user: return
        }
        if direct.blocks(user) { throw .refused(.blocked) }
    }

    /// Checks that the other one of a direct room was not erased, and that no erasure is under way.
    private func checkIsNotOver(_ direct: DirectRoom, for user: UserID) throws(Halt) {
        if direct.isOver { throw .refused(.directRoomOver) }
        guard !facts.erasing.isEmpty, let other = direct.other(of: user), facts.erasing.contains(other) else { return }
        // A room that was made since has a boundary. It is that of a new user with the same id.
        try facts.require(.subjectPast)
        if facts.subjectPast.boundary == nil { throw .refused(.directRoomOver) }
    }

    private func checkBans(_ submission: Submission, for use: BanTable.Use) throws(Halt) {
        if facts.bans.isEmpty { return }
        try facts.require(.time)
        // A room that the same commit has deleted has no bans any more.
        let room = facts.room?.isDeleted == true ? nil : submission.room
        let refusal = BanTable.refusal(
            of: submission.sender, in: room, isAdmin: submission.isAdmin, for: use, at: facts.time
        ) { facts.bans[$0] }
        if let refusal { throw .refused(refusal) }
    }

    /// Returns true if the caller may administer the room.
    func isOwner(_ submission: Submission) throws(Halt) -> Bool {
        if !submission.isAdmin { try facts.require(.role) }
        return ReadRules.isOwner(facts.role, isAdmin: submission.isAdmin)
    }

    /// Checks that the caller may administer the room.
    func checkOwner(_ submission: Submission) throws(Halt) {
        guard try isOwner(submission) else { throw .refused(.notAnOwner) }
    }
}

extension Submission {
    /// True for the submissions that one statement can store together: read marks, and sends that depend on nothing but the
    /// caller's rights, the client message id and the reply. Such a send mentions nobody, expects no head, and its content
    /// is as it was sent.
    package var isBatched: Bool {
        if isTrial { return false }
        return switch change {
        case .send(let draft): draft.content.mentions.isEmpty && draft.expectHead == nil && draft.original == nil
        case .read: true
        case .change, .room, .user: false
        }
    }

    /// True for what every reader may do, whatever else a ban refuses: it changes nothing that others see in the room.
    var isOfReader: Bool {
        switch change {
        case .room(.report), .room(.setNotify), .room(.setBlock): true
        case .send, .change, .read, .room, .user: false
        }
    }
}

extension Receipt {
    /// The receipt of a trial: a message that has a revision of its own because of it was not stored.
    fileprivate func ofTrial(_ facts: Facts) -> Receipt {
        guard case .message(let message, _) = self, message.rev > facts.room?.rev ?? 0 else { return self }
        return .permitted(message)
    }
}
