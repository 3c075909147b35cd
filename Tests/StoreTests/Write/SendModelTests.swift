import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Any history of repeated sends")
struct SendModelTests {
    private struct Key: Hashable {
        let room: String
        let sender: String
        let id: String

        var text: String { "\(room) \(sender) \(id)" }
    }

    /// The expected contents of the rooms.
    private struct Model {
        var heads: [String: Int64] = [:]
        var first: [Key: (seq: Int64, text: String)] = [:]
        var deleted: Set<Key> = []

        /// Returns the result of a send: the message's place, and whether it is new; `nil` for other content.
        mutating func send(_ send: TestLog.Send) -> (seq: Int64, isNew: Bool)? {
            let key = send.id.map { Key(room: send.room, sender: send.sender, id: $0) }
            if let key, let first = first[key] { return first.text == send.text ? (first.seq, false) : nil }
            heads[send.room, default: 0] += 1
            let seq = heads[send.room]!
            if let key { first[key] = (seq, send.text) }
            return (seq, true)
        }

        /// Returns a random message with a client message id, the same one in every run.
        func random(using random: inout SeededGenerator) -> (Key, (seq: Int64, text: String))? {
            first.sorted { $0.key.text < $1.key.text }.randomElement(using: &random).map { ($0.key, $0.value) }
        }
    }

    private func sends(using random: inout SeededGenerator, _ round: Int) -> [TestLog.Send] {
        (0..<Int.random(in: 1...8, using: &random)).map { _ in
            let id = Int.random(in: 0...(round + 4), using: &random)
            return TestLog.Send(
                text: Int.random(in: 0..<10, using: &random) == 0 ? "another" : "text \(id)",
                room: ["a", "b", "c", "d"].randomElement(using: &random)!,
                sender: ["alice", "bob"].randomElement(using: &random)!,
                id: Int.random(in: 0..<6, using: &random) == 0 ? nil : "id \(id)")
        }
    }

    /// Covers filters that are always or never full; rooms evicted with each commit; rooms whose ids are read from the
    /// database at once, late and never; messages in the journal and filed.
    @Test(
        arguments: TestStore.journals(
            (64, 5, 2, 0), (8, 8192, 100, 65_536), (8, 8192, 1, 3), (64, 8192, 100, 8), (256, 20, 100, 65_536),
            (8 << 20, 8192, 100, 8), (8 << 20, 0, 100, 65_536), (8 << 20, 8192, 1, 20), (0, 0, 0, 0)))
    func `stores one message for each client message id, through edits, deletions, restarts and crashes`(
        filter: Int, fill: Int, rooms: Int, journal: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(filter + fill * 3 + rooms * 7 + journal))
        let configure: (inout StoreConfiguration) -> Void = {
            $0.journal.filterBytes = filter
            $0.journal.filterFill = fill
            $0.cachedRooms = rooms
            $0.journal.messages = journal
            $0.journal.idleTime = 1
        }
        var log = try TestLog(configure)
        var model = Model()
        for round in 0..<80 {
            let sends = sends(using: &random, round)
            let results = try log.sendAll(sends)
            for (send, result) in zip(sends, results) {
                guard let expected = model.send(send) else {
                    #expect(throws: Problem.clientMessageIDReused) { try result.get() }
                    continue
                }
                let stored = try result.get()
                #expect(stored.seq == expected.seq && stored.isNew == expected.isNew, "\(send) in round \(round)")
            }
            switch Int.random(in: 0..<12, using: &random) {
            case 0: log = try log.reopened(configure)
            case 1: log = try log.crashed(configure)
            case 2...4:
                guard let (key, first) = model.random(using: &random), !model.deleted.contains(key) else { break }
                try log.edit(first.seq, "edited \(round)", of: key.room, as: key.sender)
            case 5:
                guard let (key, first) = model.random(using: &random) else { break }
                try log.delete(first.seq, of: key.room, as: key.sender)
                model.deleted.insert(key)
            default: break
            }
        }
        for (room, head) in model.heads { #expect(try log.state(of: room).head == head) }
        for (key, first) in model.first {
            let body = try #require(try log.message(key.id, from: key.sender, of: key.room))
            #expect(try Message(decoding: body).seq == first.seq)
        }
    }

    @Test func `forgets a failed commit: the same send is new afterwards, and then known`() throws {
        let log = try TestLog { DatabaseFailure.configure(&$0) }
        let failure = try DatabaseFailure(of: log)
        try log.send(.init(text: "x", id: "0"))
        for round in 1..<4 {
            try failure.begin()
            let failed = try log.sendAll([
                .init(text: "x", id: "\(round)"), .init(text: "y", room: "r\(round)", id: "1"),
            ])
            #expect(failed.allSatisfy { (try? $0.get()) == nil })
            try failure.end()
            for isNew in [true, false] {
                let stored = try log.sendAll([
                    .init(text: "x", id: "\(round)"), .init(text: "y", room: "r\(round)", id: "1"),
                ]).map { try $0.get() }
                #expect(stored.map(\.seq) == [Int64(round + 1), 1] && stored.allSatisfy { $0.isNew == isNew })
            }
        }
    }
}
