import BackscrollTimeline
import Chat
import Wire

/// What must be true: the list of what was stored and acknowledged, and the rules that follow.
final class Oracle {
    private unowned let world: World
    /// The first violation.
    private(set) var violation: String?
    /// The snapshots of each room by revision, from 1 on.
    private var history: [RoomID: [[UInt8]]] = [:]
    private var acknowledged: [String: Int64] = [:]
    private(set) var acknowledgements = 0
    /// The times at which users lost their access.
    private var lost: [Loss: Int64] = [:]

    private struct Loss: Hashable {
        let user: UserID
        let room: RoomID
    }

    /// The times at which users were banned from the whole server.
    private var banned: [UserID: Int64] = [:]

    /// Time after the end of an access for which messages may still be sent: 1 second.
    private static let grace = Int64.seconds(1)
    /// Longest time for which a node that is stopped keeps an answer: 5 seconds.
    private static let stop = Int64.seconds(5)

    init(_ world: World) { self.world = world }

    var stored: Int { history.values.map(\.count).reduce(0, +) }

    func fail(_ text: String) {
        if violation == nil { violation = "\(text), after \(world.scheduler.now / 1000) ms" }
    }

    // MARK: Commits

    /// Records a durable commit.
    func committed(_ before: Tables, _ after: Tables, _ changes: [Change]) {
        for (id, changes) in Dictionary(grouping: changes, by: \.room) {
            let (old, new) = (before.rooms[id]!, after.rooms[id]!)
            var head = old.facts.head
            for change in changes {
                let (message, user) = (world.text(change.body), change.user)
                history[id, default: []].append(change.body)
                if message.rev != Int64(history[id]!.count) {
                    fail("revision \(message.rev) of \(id) is not the next one")
                }
                let isNew = message.seq > old.facts.head && !message.isChanged
                // The commit may have given access before it stored the message.
                let states = [before, after]
                if !states.contains(where: { isNew ? $0.permitsSends(of: user, to: id) : $0.permits(user, in: id) }) {
                    fail("\(user) has written to \(id) \(old.bans[user] == nil ? "without access" : "although banned")")
                }
                if let time = banned[user], change.lookedAt > time, after.bans[user] != nil {
                    fail("\(user) has written to \(id) although banned from the server")
                }
                guard isNew else { continue }
                head += 1
                if message.seq != head { fail("message \(message.seq) of \(id) is not the next one") }
            }
            if new.facts.head != head || Int64(new.messages.count) != head { fail("\(id) has \(head) messages") }
            var time = Timestamp.earliest
            var keys: Set<String> = []
            for row in new.messages {
                let message = world.text(row.body)
                if message.createdAt < time { fail("message \(message.seq) of \(id) is older than the one before") }
                time = message.createdAt
                guard let key = row.clientMessageID else { continue }
                if !keys.insert("\(row.sender) \(key)").inserted {
                    fail("\(key) of \(row.sender) is stored twice in \(id)")
                }
            }
        }
        for user in world.users {
            if after.bans[user] == nil {
                banned[user] = nil
            } else if before.bans[user] == nil {
                banned[user] = world.scheduler.now
            }
            for id in after.rooms.keys {
                let loss = Loss(user: user, room: id)
                if after.admits(user, to: id) {
                    lost[loss] = nil
                } else if before.admits(user, to: id) {
                    lost[loss] = world.scheduler.now
                }
            }
        }
    }

    // MARK: Clients

    /// Records what a client was answered.
    func acknowledged(_ message: StoredMessage, in room: RoomID, as id: String?, of user: UserID) {
        acknowledgements += 1
        let known = history[room] ?? []
        guard message.rev >= 1, message.rev <= Int64(known.count), known[Int(message.rev) - 1] == message.body else {
            return fail("message \(message.seq) of \(room) was acknowledged and is not stored")
        }
        guard let id else { return }
        let key = "\(room) \(user) \(id)"
        if let seq = acknowledged[key], seq != message.seq {
            fail("\(id) was acknowledged as \(seq) and as \(message.seq)")
        }
        acknowledged[key] = message.seq
    }

    /// Checks a message that a node sends to a subscriber.
    ///
    /// - Parameter last: The revision of the message before.
    /// - Returns: Its revision.
    func sent(_ body: [UInt8], to user: UserID, in room: RoomID, after last: Int64) -> Int64 {
        let message = world.text(body)
        let known = history[room] ?? []
        if message.rev > Int64(known.count) || known[Int(message.rev) - 1] != body {
            fail("\(user) is sent revision \(message.rev) of \(room), which is not stored")
        }
        if message.rev <= last { fail("\(user) is sent revision \(message.rev) of \(room) after \(last)") }
        if let time = lost[Loss(user: user, room: room)], world.scheduler.now > time + Self.grace {
            fail("\(user) is sent revision \(message.rev) of \(room) without access")
        }
        return message.rev
    }

    /// Checks what a node reads for a page of a room.
    func read(_ tables: Tables, by user: UserID, in room: RoomID) {
        let row = tables.rooms[room]!
        let isOver =
            lost[Loss(user: user, room: room)].map { world.scheduler.now > $0 + Self.grace + Self.stop } ?? false
        if isOver || (row.facts.isPrivate && row.members[user] == nil) {
            fail("\(user) reads \(room) without access")
        }
    }

    // MARK: The end

    /// Compares all that clients show with what is stored.
    func compare(_ clients: [Client]) {
        let tables = world.database.tables
        for (id, room) in tables.rooms where Int64(history[id]?.count ?? 0) != room.facts.rev {
            fail("\(id) has not all of its revisions")
        }
        for (key, seq) in acknowledged {
            let parts = key.split(separator: " ")
            let room = tables.rooms[RoomID(trusted: String(parts[0]))]!
            guard seq >= 1, seq <= Int64(room.messages.count) else { return fail("\(key) is lost") }
            let row = room.messages[Int(seq) - 1]
            if row.sender.string != parts[1] || row.clientMessageID != String(parts[2]) {
                fail("\(key) is not at \(seq)")
            }
        }
        for client in clients {
            let room = tables.rooms[client.room]!
            let view = client.timeline.view
            let name = "\(client.user) in \(client.room)"
            guard tables.admits(client.user, to: client.room) else {
                if view.connection == .live { fail("\(name) is live without access") }
                continue
            }
            if view.connection != .live { fail("\(name) is \(view.connection.rawValue)") }
            if view.after != .end { fail("\(name) does not reach the end") }
            if view.rev != room.facts.rev { fail("\(name) is at revision \(view.rev) of \(room.facts.rev)") }
            var expected = room.facts.head
            for row in view.rows.reversed() {
                switch row.content {
                case .message(let message, _):
                    if message.seq != expected { fail("\(name) shows \(message.seq) instead of \(expected)") }
                    if expected >= 1, message.body != room.messages[Int(expected) - 1].body {
                        fail("\(name) shows another state of \(expected)")
                    }
                    expected -= 1
                case .send(let draft, let state):
                    if world.maySend(client.user, to: client.room) {
                        fail("\(name) has not sent \(draft.clientMessageID): \(state)")
                    }
                default: break
                }
            }
            if view.before == .end, expected != 0 { fail("\(name) shows no message \(expected)") }
        }
    }
}
