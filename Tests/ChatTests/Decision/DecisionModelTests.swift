import Chat
import RuleModel
import TestSupport
import Testing
import Wire

@Suite("Any history of decisions")
struct DecisionModelTests {
    private static let shapes = [
        RandomHistory.Shape("of all kinds"),
        RandomHistory.Shape("in rooms by admins only", policy: Facts.Policy(roomsByAdminsOnly: true)),
        RandomHistory.Shape("with members by admins only", policy: Facts.Policy(membersByAdminsOnly: true)),
        RandomHistory.Shape("of sends and read marks", kinds: [.send, .sendWithID, .sendWithID, .read, .setMember]),
        RandomHistory.Shape("of one room", users: 6, rooms: 1),
        RandomHistory.Shape("in which few mention rooms", policy: Facts.Policy(roomMentionMembers: 1)),
        RandomHistory.Shape(
            "of erasures", users: 2, rooms: 1,
            kinds: [
                .send, .sendWithID, .sendWithID, .read, .edit, .addReaction, .addReaction, .removeReaction, .pin,
                .unpin,
                .delete,
                .setMember, .setMember, .settings, .eraseUser, .eraseUser, .setProfile, .setProfile,
            ]),
        RandomHistory.Shape(
            "of direct rooms", users: 3, rooms: 1,
            kinds: [
                .setDirect, .setDirect, .setBlock, .send, .sendWithID, .read, .edit, .addReaction, .delete, .settings,
                .setMember,
                .removeMember, .removeMember, .deleteRoom, .eraseUser,
            ]),
        RandomHistory.Shape(
            "of reports", users: 3, rooms: 1,
            kinds: [
                .send, .send, .sendWithID, .edit, .addReaction, .delete, .report, .report, .report, .closeReport,
                .setBan, .deleteRoom, .eraseUser,
            ]),
        RandomHistory.Shape(
            "of many reactions", users: 60, rooms: 1, keys: 34,
            kinds: [.send, .addReaction, .addReaction, .addReaction, .addReaction, .removeReaction]),
    ]

    /// Lets a message expire, or erases it if it is an erased user's.
    private func change(
        _ index: Int, in id: RoomID, _ table: inout TableLog, _ naive: inout NaiveLog
    ) throws {
        let room = table.rooms[id]!
        let row = room.messages[index]
        let message = try Message(decoding: row.body)
        let isOld = room.boundaries[row.sender].map { index < $0.seq } ?? table.erasing.contains(row.sender)
        if isOld {
            let decision = Decision(erasing: message, row.body, of: row.sender, in: room.facts)
            table.apply(try #require(decision), in: id)
            naive.erase(index, id)
        } else if !message.deleted {
            table.apply(try #require(Decision(expiring: message, row.body, in: room.facts)), in: id)
            naive.expire(Int64(index) + 1, id)
        }
    }

    @Test(arguments: 0..<shapes.count)
    func `follows the rules`(number: Int) throws {
        let shape = Self.shapes[number]
        var problems: Set<Problem.Code> = []
        for seed in 0..<(shape.users > 50 ? 3 : 40) as Range<UInt64> {
            var history = RandomHistory(shape, seed: seed)
            var table = TableLog(shape.policy)
            var naive = NaiveLog(shape.policy, mostBans: TableLog.mostBans, mostBlocks: TableLog.mostBlocks)
            for _ in 0..<(shape.users > 50 ? 1500 : 300) {
                let id = try RoomID("room0")
                if Int.random(in: 0..<12, using: &history.random) == 0, let room = table.rooms[id], room.facts.head > 0
                {
                    let index = Int.random(in: 0..<room.messages.count, using: &history.random)
                    if shape.users < 50 { try change(index, in: id, &table, &naive) }
                }
                let submission = try history.submission { table.rooms[$0]?.facts.head ?? 0 }
                let time = history.time()
                let (decided, expected) = (table.submit(submission, at: time), naive.submit(submission, at: time))
                guard decided == expected else {
                    Issue.record("\(shape.name), \(seed): \(submission): \(text(decided)), not \(text(expected))")
                    return
                }
                if case .failure(let problem) = decided { problems.insert(problem.code) }
            }
            try expectSame(table, naive)
        }
        if number == 0 {
            #expect(
                problems.isSuperset(of: [
                    .banOver, .banned, .clientMessageIDReused, .emptyMessage, .forbidden, .headMoved, .lastOwner,
                    .messageDeleted, .messageNotFound, .notTheSender, .postingRestricted, .preconditionFailed,
                    .replyToNotFound, .roomDeleted,
                    .roomNotFound, .slowMode, .tooManyBans,
                ]))
        }
        if shape.name == "of direct rooms" {
            #expect(problems.isSuperset(of: [.directRoom, .blocked, .roomNotFound, .roomDeleted, .lastOwner]))
        }
        if shape.name == "of reports" {
            #expect(problems.isSuperset(of: [.rateLimited, .messageDeleted, .messageNotFound, .reportNotFound]))
        }
        if shape.users > 50 { #expect(problems.contains(.tooManyReactions)) }
    }

    private func text(_ result: Result<Receipt, Problem>) -> String {
        if case .success(.message(let message, let isNew)) = result {
            return "\(String(decoding: message.body, as: UTF8.self)), \(isNew ? "new" : "known")"
        }
        return "\(result)"
    }

    private func expectSame(_ table: TableLog, _ naive: NaiveLog) throws {
        #expect(table.memberships == naive.memberships)
        #expect(table.ends == naive.ends)
        #expect(table.bans == naive.bans)
        #expect(Set(table.rooms.keys) == Set(naive.rooms.keys))
        for (id, room) in table.rooms {
            let expected = naive.rooms[id]!
            #expect(room.title == expected.title && room.manners == expected.manners)
            #expect(room.facts.rev == expected.rev && room.facts.head == Int64(expected.posts.count))
            #expect(room.facts.isPrivate == expected.isPrivate && room.facts.isDeleted == expected.isDeleted)
            let bodies = expected.posts.map { post in
                var body: [UInt8] = []
                post.message.encode(into: &body)
                return body
            }
            #expect(room.messages.map(\.body) == bodies)
            var mentions: [Int64: Mentions] = [:]
            for message in expected.posts.map(\.message) {
                var mentioned = message.content.mentions
                mentioned.users.removeAll { $0 == message.sender }
                if !mentioned.isEmpty { mentions[message.seq] = mentioned }
            }
            // Edits add mentions in another order.
            func sorted(_ mentions: Mentions) -> Mentions {
                Mentions(users: mentions.users.sorted { $0.string < $1.string }, room: mentions.room)
            }
            #expect(room.mentions.mapValues(sorted) == mentions.mapValues(sorted))
            let pinned = expected.posts.filter { $0.message.pinned != nil }.map(\.message.seq)
            #expect(room.pins.keys.sorted() == pinned)
        }
    }

    @Test(arguments: 0..<20)
    func `of up to 1,000 submissions is the same as a batch and one by one`(seed: UInt64) throws {
        let shape = Self.shapes[Int(seed) % 6]
        var history = RandomHistory(shape, seed: seed)
        var (single, batched) = (TableLog(shape.policy), TableLog(shape.policy))
        for _ in 0..<3 {
            let time = history.time()
            // The facts of a batch are loaded once. They take on the writes of each decision.
            var facts = batched
            var decisions: [(RoomID?, Decision)] = []
            for _ in 0..<Int.random(in: 1...1000, using: &history.random) {
                let submission = try history.submission { single.rooms[$0]?.facts.head ?? 0 }
                let decision = facts.decide(submission, at: time)
                facts.apply(decision, in: submission.room)
                decisions.append((submission.room, decision))
                #expect(single.submit(submission, at: time) == decision.result)
            }
            for (room, decision) in decisions { batched.apply(decision, in: room) }
            #expect(single.rooms == batched.rooms && single.bans == batched.bans)
            #expect(single.memberships == batched.memberships && single.ends == batched.ends)
            #expect(single.erasures == batched.erasures)
        }
    }
}
