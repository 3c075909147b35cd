package import Chat
package import TestSupport
package import Wire

/// A source of random submissions by a few users to a few rooms, the same in every run.
package struct RandomHistory {
    /// The kinds of submissions.
    package enum Kind: CaseIterable, Sendable {
        case send, sendWithID, read, edit, addReaction, removeReaction, pin, unpin, delete, settings, setMember
        case removeMember, setBan, removeBan, deleteRoom, banUser, eraseUser, setDirect, setBlock, report, closeReport
        case setProfile, setNotify
    }

    /// The number of users, the kinds of submissions and so on.
    package struct Shape: Sendable {
        package var name: String
        package var users: Int
        package var rooms: Int
        /// The number of keys of reactions.
        package var keys: Int
        /// A kind that is listed twice is twice as frequent.
        package var kinds: [Kind]
        package var policy: Facts.Policy

        package init(
            _ name: String, users: Int = 4, rooms: Int = 3, keys: Int = 2,
            kinds: [Kind] = Kind.allCases + [.sendWithID, .setMember, .setBan, .setBan],
            policy: Facts.Policy = Facts.Policy()
        ) {
            self.name = name
            self.users = users
            self.rooms = rooms
            self.keys = keys
            self.kinds = kinds
            self.policy = policy
        }
    }

    private let shape: Shape
    package var random: SeededGenerator
    private var milliseconds: Int64 = 1_700_000_000_000
    private var number: UInt64 = 0

    /// Creates the history of a seed.
    package init(_ shape: Shape, seed: UInt64) {
        self.shape = shape
        random = SeededGenerator(seed: seed)
    }

    /// Returns the next time, which sometimes is before the last.
    package mutating func time() -> Timestamp {
        milliseconds += Int64.random(in: -20...100, using: &random)
        return Timestamp(milliseconds: milliseconds)
    }

    /// Returns the next submission.
    ///
    /// - Parameter head: Returns the highest `seq` of a room.
    package mutating func submission(head: (RoomID) -> Int64) throws -> Submission {
        let kind = shape.kinds[pick(shape.kinds.count)]
        number += 1
        if shape.kinds.contains(.setDirect), kind == .setDirect || kind == .setBlock || pick(8) == 0,
            let direct = try direct(kind, head)
        {
            return direct
        }
        let room = try RoomID("room\(pick(shape.rooms))")
        let isOfUser = kind == .banUser || kind == .eraseUser || kind == .setProfile
        return Submission(
            ticket: Ticket(loop: 0, number: number), room: isOfUser ? nil : room, sender: try user(),
            change: try change(kind, head: Int(head(room))),
            isAdmin: pick(isOfUser || kind == .closeReport ? 2 : 8) == 0,
            isTrial: [.send, .sendWithID, .edit].contains(kind) && pick(8) == 0)
    }

    /// Returns a submission to a direct room; `nil` for a kind without a room.
    private mutating func direct(_ kind: Kind, _ head: (RoomID) -> Int64) throws -> Submission? {
        guard kind != .banUser, kind != .eraseUser else { return nil }
        let (a, b) = (pick(shape.users), pick(shape.users))
        let (user, other) = (try UserID("user\(a)"), try UserID("user\(b)"))
        let room = try Self.direct(a, b)
        let change: Submission.Change =
            switch kind {
            case .setDirect: .room(.setDirect(other))
            case .setBlock: .room(.setBlock(other, pick(2) == 0))
            default: try change(kind, head: Int(head(room)))
            }
        return Submission(
            ticket: Ticket(loop: 0, number: number), room: room, sender: user, change: change, isAdmin: pick(8) == 0)
    }

    /// Returns the id of the direct room of two users. The rules do not ask how it follows from them.
    private static func direct(_ a: Int, _ b: Int) throws -> RoomID {
        try RoomID("@" + "\(min(a, b))-\(max(a, b))".padding(to: 22))
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func user() throws -> UserID { try UserID("user\(pick(shape.users))") }

    private mutating func change(_ kind: Kind, head: Int) throws -> Submission.Change {
        switch kind {
        case .send: return .send(Draft(content: try content(head), expectHead: expectedHead(head)))
        case .sendWithID:
            var draft = Draft(
                clientMessageID: "id\(pick(6))", content: try content(head), expectHead: expectedHead(head))
            if pick(5) == 0 {
                draft.original = draft.content
                draft.content.text = ["one", "two", "four"][pick(3)]
            }
            return .send(draft)
        case .read: return .read(seq: Int64(pick(head + 1)))
        case .edit:
            let edit = Edit(
                text: ["one", "two", nil, ""][pick(4)], mentions: pick(3) == 0 ? try mentions() : nil,
                mentionsRoom: [nil, nil, nil, false, true][pick(5)], data: [nil, [], Array(#"{"a":1}"#.utf8)][pick(3)])
            return .change(change(.edit(edit), head))
        case .delete: return pick(3) == 0 ? .change(change(.delete, head)) : .read(seq: 0)
        case .addReaction: return .change(change(.addReaction(try ReactionKey("k\(pick(shape.keys))")), head))
        case .removeReaction: return .change(change(.removeReaction(try ReactionKey("k\(pick(shape.keys))")), head))
        case .pin: return .change(change(.pin, head))
        case .unpin: return .change(change(.unpin, head))
        case .settings:
            var settings = RoomSettings(
                visibility: [nil, .open, .private][pick(3)], title: [nil, "", "of user1"][pick(3)])
            settings.posting = [nil, nil, nil, .members, .members, .owners][pick(6)]
            settings.pinning = [nil, .owners, .members][pick(3)]
            settings.slowSeconds = [nil, nil, nil, 0, 1, 2][pick(6)]
            settings.keepDays = [nil, 0, 30][pick(3)]
            settings.isSearchable = [nil, true, false][pick(3)]
            settings.avatar = [nil, "", "https://example.com/a.png"][pick(3)]
            settings.data = [nil, [], Array(#"{"a":1}"#.utf8)][pick(3)]
            return .room(.set(settings))
        case .report:
            let reason = ReportDraft.Reason.allCases[pick(4)]
            return .room(
                .report(seq: Int64(pick(head + 2)), ReportDraft(reason: reason, note: [nil, "because"][pick(2)])))
        case .closeReport:
            let action: ReportAction = [.none, .deleted, .banned][pick(3)]
            return .room(.closeReport(seq: Int64(pick(head + 1)), action))
        case .setDirect, .setBlock: return .room(.setDirect(try user()))
        case .setNotify:
            let until: Timestamp? = [nil, nil, .earliest, Timestamp(milliseconds: 4_000_000_000_000)][pick(4)]
            return .room(
                .setNotify(
                    NotifySettings(
                        level: NotifySettings.Level.allCases[pick(3)], until: until, roomMentions: pick(2) == 0)))
        case .setMember: return .room(.setMember(try user(), [nil, .member, .owner][pick(3)]))
        case .removeMember: return .room(.removeMember(try user()))
        case .setBan: return .room(.setBan(try user(), ban()))
        case .removeBan: return .room(.removeBan(try user()))
        case .deleteRoom: return pick(8) == 0 ? .room(.delete) : .read(seq: Int64(min(1, head)))
        case .banUser: return .user(try user(), pick(2) == 0 ? .ban(ban()) : .liftBan)
        case .setProfile:
            let (name, data) = ([nil, "", "Bob", "Carol"][pick(4)], [nil, [], Array(#"{"a":1}"#.utf8)][pick(3)])
            let avatar = [nil, "", "https://x/y"][pick(3)]
            return .user(try user(), .setProfile(ProfileSettings(name: name, avatar: avatar, data: data)))
        case .eraseUser: return .user(try user(), pick(3) == 0 ? .erase : .liftBan)
        }
    }

    private mutating func change(_ action: MessageChange.Action, _ head: Int) -> MessageChange {
        // The reactions of many users are to one message.
        let seq = shape.users > 50 ? 1 : Int64(pick(head + 2))
        return MessageChange(seq: seq, action: action, revs: pick(4) == 0 ? [Int64(pick(head * 2 + 1))] : nil)
    }

    private mutating func expectedHead(_ head: Int) -> Int64? {
        pick(6) == 0 ? Int64(head - pick(2)) : nil
    }

    private mutating func mentions() throws -> [UserID] {
        var users: [UserID] = []
        for _ in 0..<pick(3) {
            let user = try user()
            if !users.contains(user) { users.append(user) }
        }
        return users
    }

    private mutating func content(_ head: Int) throws -> Content {
        Content(
            text: ["one", "two", "three"][pick(3)], replyTo: pick(6) == 0 ? Int64(pick(head + 2) + 1) : nil,
            mentions: pick(3) == 0 ? Mentions(users: try mentions(), room: pick(3) == 0) : Mentions(),
            data: pick(4) == 0 ? Array(#"{"a":\#(pick(2))}"#.utf8) : [])
    }

    private mutating func ban() -> BanSettings {
        BanSettings(
            scope: pick(2) == 0 ? .all : .send,
            until: pick(3) == 0 ? nil : Timestamp(milliseconds: milliseconds + Int64(pick(1000)) - 100),
            reason: pick(3) == 0 ? "because" : nil)
    }
}

extension String {
    fileprivate func padding(to count: Int) -> String { self + String(repeating: "-", count: count - utf8.count) }
}
