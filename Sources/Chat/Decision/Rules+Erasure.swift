public import Wire

/// Users who are being erased, whose id somebody may use again meanwhile, as a new user.
///
/// Before the new user changes anything in a room, the old user's membership and read mark in it are removed, and a
/// boundary is stored. Messages up to the boundary's `seq`, and reactions up to its revision, are the old user's.
extension Rules {
    /// Separates the old user from the new one in a room, before a change there by or to a user who is being erased.
    mutating func separate(_ submission: Submission) throws(Halt) {
        guard !facts.erasing.isEmpty, let room = facts.room, !room.isDeleted else { return }
        let user = submission.sender
        if facts.erasing.contains(user) {
            try facts.require(.past)
            if facts.past.boundary == nil {
                leave(user, facts.past, in: submission.room, room)
                facts.past.boundary = Facts.Boundary(seq: room.head, rev: room.rev)
                facts.role = nil
                facts.mark = 0
                if room.slowSeconds > 0 { facts.lastSend = nil }
            }
        }
        let subject: UserID
        switch submission.change {
        case .room(.setMember(let user, _)), .room(.setDirect(let user)): subject = user
        default: return
        }
        guard subject != user, facts.erasing.contains(subject) else { return }
        try facts.require(.subjectPast)
        if facts.subjectPast.boundary == nil {
            leave(subject, facts.subjectPast, in: submission.room, room)
            facts.subjectPast.boundary = Facts.Boundary(seq: room.head, rev: room.rev)
            facts.subjectRole = nil
            // Only the old user has.
            facts.hasTakenPart = false
        }
    }

    private mutating func leave(_ user: UserID, _ past: Facts.Past, in id: RoomID?, _ room: RoomFacts) {
        writes += Decision.leaving(user, past, in: id)
        writes += [.removeMark(user), .setBoundary(user, Facts.Boundary(seq: room.head, rev: room.rev))]
        if past.isMember { facts.room?.direct?.change(user) { $0 = DirectRoom.Side(.deleted) } }
    }
}

extension Decision {
    /// Returns the writes that remove the membership of a user who is being erased, and the name from the room's title
    /// and from a direct room.
    public static func leaving(_ user: UserID, _ past: Facts.Past, in room: RoomID?) -> [Write] {
        guard past.isMember else { return [] }
        var writes: [Write] = room?.isDirect == true ? [.forgetDirect(user)] : []
        if let title = past.title?.anonymized(for: user) {
            let settings = RoomSettings(title: title.utf8.count > Limits.titleBytes ? "" : title)
            writes.append(.setRoom(settings, endsAccess: false))
        }
        return writes + [.removeMember(user), .setNotify(user, nil)]
    }
}

extension Ban {
    /// The ban without the name of a user who is being erased: as the one who set it, together with the user's reason,
    /// or in the reason of another.
    public func anonymized(for user: UserID) -> Ban {
        var next = self
        if by == user {
            (next.by, next.reason) = (.deleted, nil)
        } else if let reason = reason?.anonymized(for: user) {
            next.reason = reason.utf8.count > Limits.banReasonBytes ? nil : reason
        }
        return next
    }
}

extension String {
    /// The text with ``UserID/deleted`` in place of a user's id where that stands as a word of its own; `nil` if it does
    /// not.
    func anonymized(for user: UserID) -> String? {
        let (text, id) = (Array(unicodeScalars), Array(user.string.unicodeScalars))
        func isOfWord(_ index: Int) -> Bool {
            guard text.indices.contains(index) else { return false }
            let properties = text[index].properties
            return properties.isAlphabetic || properties.numericType != nil
                || properties.canonicalCombiningClass != .notReordered
        }
        var result = String.UnicodeScalarView()
        var (index, isFound) = (0, false)
        while index < text.count {
            let end = index + id.count
            if text[index...].starts(with: id), !isOfWord(index - 1), !isOfWord(end) {
                result.append(contentsOf: UserID.deleted.string.unicodeScalars)
                (index, isFound) = (end, true)
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return isFound ? String(result) : nil
    }
}
