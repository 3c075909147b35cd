import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Any history of sends and changes")
struct ChangeModelTests {
    private static let rooms = ["a", "b", "c"]

    private func request(
        head: Int64, changes: Double, using generator: inout SeededGenerator
    ) -> ChangeModel.Request {
        let user = ["alice", "bob"].randomElement(using: &generator)!
        let text = "\(Int.random(in: 0..<4, using: &generator))"
        guard Double.random(in: 0..<1, using: &generator) < changes else {
            let id = Bool.random(using: &generator) ? "id\(Int.random(in: 0..<60, using: &generator))" : nil
            return .send(text: text, sender: user, id: id)
        }
        // New messages change more often, as in practice.
        let recent = Bool.random(using: &generator)
        let seq = Int64.random(in: (recent ? max(1, head - 2) : 0)...head + 1, using: &generator)
        let key = ["👍", "❤️"].randomElement(using: &generator)!
        return switch Int.random(in: 0..<8, using: &generator) {
        case 0...2: .edit(seq, text: text, user: user)
        case 3: .delete(seq, user: user)
        case 4...6: .react(seq, key: key, user: "user\(Int.random(in: 0..<70, using: &generator))")
        default: .unreact(seq, key: key, user: "user\(Int.random(in: 0..<70, using: &generator))")
        }
    }

    private func submission(_ request: ChangeModel.Request, _ room: String, _ log: TestLog) throws -> Submission {
        switch request {
        case .send(let text, let sender, let id):
            try log.submissions([.init(text: text, room: room, sender: sender, id: id)])[0]
        case .edit(let seq, let text, let user):
            try log.submission(.init(seq: seq, action: .edit(Edit(text: text)), room: room, user: user))
        case .delete(let seq, let user):
            try log.submission(.init(seq: seq, action: .delete, room: room, user: user))
        case .react(let seq, let key, let user):
            try log.submission(.init(seq: seq, action: .addReaction(ReactionKey(key)), room: room, user: user))
        case .unreact(let seq, let key, let user):
            try log.submission(.init(seq: seq, action: .removeReaction(ReactionKey(key)), room: room, user: user))
        }
    }

    private func expect(
        _ models: [String: ChangeModel], in log: TestLog, using generator: inout SeededGenerator
    ) throws {
        for (room, model) in models {
            #expect(try log.state(of: room) == RoomState(head: Int64(model.messages.count), rev: model.rev))
            let since = Int64.random(in: 0...model.rev, using: &generator)
            let limit = Int.random(in: 1...50, using: &generator)
            let all = model.messages.enumerated().filter { $0.element.rev > since }
                .sorted { $0.element.rev < $1.element.rev }.map { Int64($0.offset + 1) }
            let changes = try log.changes(since: since, limit: limit, of: room)
            #expect(try messages(changes.messages).map(\.seq) == Array(all.prefix(limit)))
            #expect(changes.hasMore == (all.count > limit))
            for message in try messages(changes.messages) { #expect(model.matches(message, message.seq)) }
            let page = try messages(log.page(.newest, limit: limit, of: room).messages)
            #expect(page.map(\.seq) == model.messages.indices.suffix(limit).map { Int64($0 + 1) })
            for message in page { #expect(model.matches(message, message.seq)) }
            for message in model.messages where message.id != nil && Int.random(in: 0..<5, using: &generator) == 0 {
                let found = try #require(try log.message(message.id!, from: message.sender, of: room))
                #expect(try Message(decoding: found).rev == message.rev)
            }
        }
    }

    /// Returns the messages of a page, which are joined by commas.
    private func messages(_ page: [UInt8]) throws -> [Message] {
        var scanner = try JSONScanner(Array("[".utf8) + page + Array("]".utf8))
        try scanner.enterArray()
        var messages: [Message] = []
        while try scanner.nextElement() { messages.append(try Message(decoding: scanner.readCompact().bytes)) }
        return messages
    }

    @Test(arguments: TestStore.journals((1, 0, 0), (2, 10, 6), (3, 30, 100), (4, 10_000, 256), (5, 10_000, 4)))
    func `has the result of the same operations on a list, wherever messages are stored, with restarts and crashes`(
        seed: UInt64, journalMessages: Int, messagesOfRoom: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        func configure(_ configuration: inout StoreConfiguration) {
            configuration.journal.messages = journalMessages
            configuration.journal.messagesOfRoom = messagesOfRoom
            configuration.journal.idleTime = 60_000
            configuration.cachedRooms = 2
        }
        var log = try TestLog(configure)
        var models = Dictionary(uniqueKeysWithValues: Self.rooms.map { ($0, ChangeModel()) })
        for round in 0..<120 {
            let changes = [0.1, 0.5, 0.9].randomElement(using: &generator)!
            var submissions: [Submission] = []
            var expected: [(room: String, result: Result<Int64, CodeError>)] = []
            for _ in 0..<Int.random(in: 1...15, using: &generator) {
                let room = Self.rooms.randomElement(using: &generator)!
                let head = Int64(models[room]!.messages.count)
                let request = request(head: head, changes: changes, using: &generator)
                submissions.append(try submission(request, room, log))
                expected.append((room, models[room]!.apply(request)))
            }
            let told = log.listener.commits.events.count
            let before = Dictionary(uniqueKeysWithValues: try Self.rooms.map { ($0, try log.state(of: $0).rev) })
            let results = try log.submitAll(submissions)
            for (result, expected) in zip(results, expected) {
                switch (result, expected.result) {
                case (.success(let stored), .success(let seq)): #expect(stored.seq == seq)
                case (.failure(let problem), .failure(let code)): #expect(problem.code.string == code.code)
                default: Issue.record("\(result) is not \(expected)")
                }
            }
            try expectPushes(log.listener.commits.events[told...], of: models, after: before)
            try expect(models, in: log, using: &generator)
            if round % 10 == 3 {
                let copy = try log.crashed(configure)
                try expect(models, in: copy, using: &generator)
                if Bool.random(using: &generator) { log = copy }
            }
            if round % 15 == 7 { log = try log.reopened(configure) }
        }
        log.close()
        try expectSound(log.path)
        #expect(
            try log.count("reactions")
                == models.values.flatMap(\.messages).flatMap(\.reactions).reduce(0) { $0 + $1.users.count })
    }

    /// Expects the pushed revisions to be exactly those that the rooms have reached since, in order.
    private func expectPushes(
        _ commits: ArraySlice<Listener.Commit>, of models: [String: ChangeModel], after before: [String: Int64]
    ) throws {
        var revs = before
        var latest: [String: [Int64: Message]] = [:]
        for batch in commits.flatMap(\.batches) {
            let room = batch.room.string
            for (index, body) in batch.messages.enumerated() {
                let message = try Message(decoding: body)
                #expect(message.rev == batch.since + 1 + Int64(index) && message.rev == revs[room]! + 1)
                revs[room] = message.rev
                latest[room, default: [:]][message.seq] = message
            }
        }
        for (room, model) in models {
            #expect(revs[room] == model.rev)
            for (seq, message) in latest[room] ?? [:] { #expect(model.matches(message, seq)) }
        }
    }

    @Test(arguments: TestStore.journals(0, 10, 100_000))
    func `is consistent for concurrent readers`(journalMessages: Int) throws {
        let log = try TestLog {
            $0.journal.messages = journalMessages
            $0.journal.messagesOfRoom = 6
        }
        try log.fill(5)
        let isDone = Atomic(false)
        inParallel(4) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            if thread == 0 {
                defer { isDone.store(true, ordering: .relaxed) }
                for round in 0..<200 as Range<Int64> {
                    let head = 5 + round * 2
                    let sends = try log.submissions([.init(), .init()])
                    let likes = try (0..<3).map { index in
                        try log.submission(
                            .init(
                                seq: .random(in: 1...head + 1, using: &generator),
                                action: .addReaction(ReactionKey("\(index)")), user: "u\(round)"))
                    }
                    for result in try log.submitAll([sends[0], likes[0], sends[1], likes[1], likes[2]]) {
                        _ = try result.get()
                    }
                }
                return
            }
            // A client that follows the changes has, at each moment, a state that the room had at some moment.
            var rev: Int64 = 0
            var known: [Int64: Int64] = [:]
            while true {
                let isLast = isDone.load(ordering: .relaxed)
                let changes = try log.changes(since: rev, limit: 1000)
                let list = try messages(changes.messages)
                #expect(list.map(\.rev) == list.map(\.rev).sorted() && list.allSatisfy { $0.rev > rev })
                #expect(changes.rev == list.last?.rev ?? rev && changes.state.rev == changes.rev)
                for message in list { known[message.seq] = message.rev }
                rev = changes.rev
                #expect(known.count == Int(changes.state.head))
                let page = try log.page(.newest, limit: 20)
                let latest = try messages(page.messages).map(\.rev).max()!
                #expect(page.lastSeq == page.state.head && latest <= page.state.rev && page.state.rev >= rev)
                if isLast { break }
            }
            #expect(
                rev
                    == log.listener.commits.events.flatMap(\.batches).last.map {
                        $0.rev
                    })
        }
    }
}
