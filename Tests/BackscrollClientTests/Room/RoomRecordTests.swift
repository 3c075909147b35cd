import BackscrollClientStore
import BackscrollTimeline
import GRDB
import Testing
import Wire

@testable import BackscrollClient

/// A room of a server: messages whose `rev` rises with each change.
private struct ModelRoom {
    var revs: [Int64] = []
    var rev: Int64 = 0
    var epoch = "E1"

    mutating func send() {
        rev += 1
        revs.append(rev)
    }

    mutating func change(_ seq: Int64) {
        rev += 1
        revs[Int(seq) - 1] = rev
    }

    func message(_ seq: Int64) -> ChatMessage {
        .model(seq: seq, rev: revs[Int(seq) - 1])
    }

    func page(_ seqs: ClosedRange<Int64>) -> RoomMachine.Page {
        let seqs = revs.isEmpty ? [] : Array(seqs.clamped(to: 1...Int64(revs.count)))
        return try! RoomMachine.Page(
            messages: seqs.map(message), hasBefore: seqs.first ?? 1 > 1, hasAfter: seqs.last ?? 0 < Int64(revs.count),
            head: Int64(revs.count), rev: rev, epoch: epoch)
    }

    /// Returns the messages that a replay brings.
    func replay(since: Int64) -> [ChatMessage] {
        (1...max(1, Int64(revs.count))).filter { revs.indices.contains(Int($0) - 1) && revs[Int($0) - 1] > since }
            .map(message).sorted { $0.rev < $1.rev }
    }
}

extension ChatMessage {
    static func model(seq: Int64, rev: Int64, sender: String = "bob", id: String? = nil) -> ChatMessage {
        ChatMessage(
            Message(
                room: try! RoomID("lobby"), seq: seq, rev: rev, sender: try! UserID(sender), clientMessageID: id,
                content: Content(text: "\(seq) at \(rev)"), createdAt: Timestamp(milliseconds: 1_790_000_000_000)))
    }
}

@Suite("A room's record")
struct RoomRecordTests {
    private let key = StoredRoomKey(account: StoreAccount(server: "http://x", user: "alice"), room: "lobby")

    /// Every stored run must have all changes until its revision, and a replay since then must bring all the rest.
    private func check(_ database: DatabaseQueue, _ room: ModelRoom) throws {
        try database.read { db in
            var newest: (last: Int64, rev: Int64, hasAfter: Bool)?
            for row in try Row.fetchAll(
                db, sql: "SELECT first, last, rev, has_after FROM backscroll_run ORDER BY first")
            {
                let (first, last, rev): (Int64, Int64, Int64) = (row[0], row[1], row[2])
                let revs = try Int64.fetchAll(
                    db, sql: "SELECT rev FROM backscroll_message WHERE seq BETWEEN ? AND ? ORDER BY seq",
                    arguments: [first, last])
                try #require(revs.count == Int(last - first + 1), "the run has each of its messages")
                for (index, stored) in revs.enumerated() {
                    let latest = room.revs[Int(first) - 1 + index]
                    try #require(stored == latest || latest > rev, "a replay brings what the run lacks")
                }
                newest = (last, rev, row[3])
            }
            if let newest, !newest.hasAfter {
                for latest in room.revs.dropFirst(Int(newest.last)) { try #require(latest > newest.rev) }
            }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM backscroll_message")
            #expect(count == (try Int.fetchOne(db, sql: "SELECT SUM(last - first + 1) FROM backscroll_run") ?? 0))
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `never claims messages that the store does not have, in any order of events`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let database = try DatabaseQueue()
        let store = GRDBClientStore.database(database)
        var room = ModelRoom()
        for _ in 0..<Int64.random(in: 0...80, using: &random) { room.send() }

        var record = RoomRecord(me: "alice")
        var queue: [ChatMessage] = []  // frames that the server has sent
        var socketRev: Int64 = 0
        var fetched: RoomMachine.Page?  // a page that was read and has not come
        func follow(_ since: Int64, _ window: ([ChatMessage], Bool) = ([], false)) {
            record.follow(since: since, epoch: room.epoch, window: window)
            queue = room.replay(since: since)
            socketRev = room.rev
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<35:
                if room.revs.isEmpty || Bool.random(using: &random) {
                    room.send()
                } else {
                    room.change(Int64.random(in: 1...Int64(room.revs.count), using: &random))
                }
                if record.position != nil { queue.append(contentsOf: room.replay(since: room.rev - 1)) }
                socketRev = room.rev
            case ..<65:
                if !queue.isEmpty { record.addFrame(queue.removeFirst()) }
                if queue.isEmpty, record.position != nil { record.advance(to: socketRev) }
            case ..<72 where fetched == nil && record.position != nil:
                record.beginFetch()
                let first = Int64.random(in: 1...Int64(room.revs.count + 1), using: &random)
                fetched = room.page(first...first + 9)
            case ..<80:
                guard let page = fetched else { continue }
                fetched = nil
                if page.epoch == room.epoch { record.addPage(page) }
                record.endFetch()
            case ..<88:
                try await store.write(record.drainChanges(), to: key)
                try check(database, room)
            case ..<91 where fetched == nil:
                // The room is opened at another place.
                record.unfollow()
                queue = []
                let first = Int64.random(in: 1...Int64(room.revs.count + 1), using: &random)
                let page = room.page(first...first + 9)
                record.beginFetch()
                follow(page.rev)
                record.addPage(page)
                record.endFetch()
            case ..<94 where record.position != nil:
                // The socket is lost.
                follow(record.position!)
            case ..<96 where fetched == nil:
                // The app is killed, and shows the store.
                record = RoomRecord(me: "alice")
                queue = []
                let stored = try await store.load(key, limit: 20)
                record.restore(stored)
                if let newest = stored?.newest {
                    #expect(newest.epoch == room.epoch)
                    follow(newest.run.rev)
                }
            case ..<97 where fetched == nil:
                room = ModelRoom(epoch: room.epoch + "'")
                for _ in 0..<30 { room.send() }
                queue = []
                record.unfollow()
                let page = room.page(21...30)
                record.beginFetch()
                follow(page.rev)
                record.addPage(page)
                record.endFetch()
                try await store.write(record.drainChanges(), to: key)
            default:
                break
            }
        }
        if let page = fetched {
            record.addPage(page)
            record.endFetch()
        }
        for frame in queue { record.addFrame(frame) }
        if record.position != nil { record.advance(to: room.rev) }
        try await store.write(record.drainChanges(), to: key)
        try check(database, room)
    }

    @Test func `collects the frames between two writes into one change`() {
        var record = RoomRecord(me: "alice")
        record.follow(since: 10, epoch: "E", window: ([], false))
        #expect(record.isEmpty)
        for rev in 11...500 as ClosedRange<Int64> { record.addFrame(.model(seq: 7, rev: rev)) }
        let changes = record.drainChanges()
        #expect(changes.count == 1 && record.isEmpty)
        guard case .frames(from: 10, to: 500, epoch: "E", let messages) = changes[0] else {
            Issue.record("\(changes)")
            return
        }
        #expect(messages == [.model(seq: 7, rev: 500)])
    }

    @Test func `keeps sends and marks when too many messages could not be written`() {
        var record = RoomRecord(me: "alice")
        record.follow(since: 0, epoch: "E", window: ([], false))
        record.add(ChatDraft("text", clientMessageID: "a"), at: 1)
        record.setUnsentMark(3)
        for seq in 1...Int64(RoomRecord.maximumMessages + 1) { record.addFrame(.model(seq: seq, rev: seq)) }
        let unwritten = record.drainChanges()
        record.putBack(unwritten)
        let changes = record.drainChanges()
        guard changes.count == 3, case .forget = changes[0], case .send(let send) = changes[1],
            case .unsentMark(let mark) = changes[2]
        else {
            Issue.record("\(changes.count) changes")
            return
        }
        #expect(send.draft.clientMessageID == "a" && mark == 3)
    }

    @Test func `removes a send as soon as a page, frame or answer shows it stored`() {
        var record = RoomRecord(me: "alice")
        record.add(ChatDraft("a", clientMessageID: "a"), at: 1)
        _ = record.drainChanges()
        record.addFrame(.model(seq: 1, rev: 1, sender: "bob", id: "a"))
        #expect(record.drainChanges().isEmpty)
        record.addFrame(.model(seq: 2, rev: 2, sender: "alice", id: "a"))
        record.addFrame(.model(seq: 2, rev: 2, sender: "alice", id: "a"))
        let changes = record.drainChanges()
        guard changes.count == 1, case .removeSend(clientMessageID: "a") = changes[0] else {
            Issue.record("\(changes)")
            return
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
