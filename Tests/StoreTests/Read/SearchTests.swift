import Chat
import TestSupport
import Testing
import TextSearch
import Wire

@testable import Store

extension TestLog {
    /// Makes a search, in a room or in all rooms of the user.
    func search(
        _ request: SearchRequest, in room: String? = nil, as user: String, isAdmin: Bool = false,
        within patterns: [RoomPattern]? = nil
    ) throws -> SearchSlice {
        let room = try room.map { try RoomID($0) }
        return try read(for: user, isAdmin: isAdmin) { .search(request, in: room, within: patterns, $0) }
    }

    /// Follows the cursors of a search to its end.
    func searchAll(
        _ request: SearchRequest, in room: String? = nil, as user: String, isAdmin: Bool = false,
        within patterns: [RoomPattern]? = nil
    ) throws -> [SearchSlice.Hit] {
        var (request, hits) = (request, [SearchSlice.Hit]())
        while true {
            let slice = try search(request, in: room, as: user, isAdmin: isAdmin, within: patterns)
            #expect(slice.hits.count <= request.limit)
            hits += slice.hits
            guard let next = slice.next else { return hits }
            request.cursor = next
        }
    }

    /// Erases a user, and waits until that is done.
    func erase(_ name: String) throws {
        let user = try UserID(name)
        let submission = Submission(
            ticket: Ticket(loop: 9, number: .random(in: 0 ... .max)), room: nil, sender: try UserID("root"),
            change: .user(user, .erase), isAdmin: true)
        _ = try outcome(submission).get()
        try waitUntil {
            (try? read(for: "root", isAdmin: true) { .server(.erasure(user, $0)) })??.state == .erased
        }
    }

    /// Searches for words, and returns the hits as `room:seq`.
    func found(
        _ words: String, in room: String? = nil, as user: String = "alice", limit: Int = 30, isAdmin: Bool = false,
        within patterns: [RoomPattern]? = nil
    ) throws -> [String] {
        try searchAll(
            SearchRequest(SearchQuery(words), limit: limit), in: room, as: user, isAdmin: isAdmin, within: patterns
        ).map(\.place)
    }
}

extension SearchSlice.Hit {
    /// The message as `room:seq`.
    var place: String {
        let message = try! Message(decoding: message)
        return "\(message.room):\(message.seq)"
    }
}

@Suite("A search", .timeLimit(.minutes(30)))
struct SearchTests {
    @Test(arguments: [0, 16_384])
    func `finds messages of a room by their text, newest first, with the places of the words`(journalMessages: Int)
        throws
    {
        let log = try TestLog { $0.journal.messages = journalMessages }
        try log.sendAll([
            .init(text: "정기회의는 3시"), .init(text: "notes of the day"), .init(text: "회의 note"), .init(text: "other"),
            .init(text: "회의 note", room: "den"),
        ])
        #expect(try log.found("회의", in: "lobby") == ["lobby:3", "lobby:1"])
        #expect(try log.found("note", in: "lobby") == ["lobby:3", "lobby:2"])
        #expect(try log.found("note -회의", in: "lobby") == ["lobby:2"])
        #expect(try log.found("\"회의 note\"", in: "lobby", limit: 1) == ["lobby:3"])
        let slice = try log.search(SearchRequest(SearchQuery("회의 note")), in: "lobby", as: "bob")
        #expect(slice.hits.map(\.highlights) == [[0..<2, 3..<7]] && slice.next == nil && slice.indexedTo == nil)
        #expect(try slice.hits.map(\.message) == [#require(try log.message(3))])
        #expect(try log.found("note", in: "nowhere") == [])
    }

    @Test func `finds the present text only: not what was edited away, deleted or erased`() throws {
        let log = try TestLog()
        try log.sendAll([
            .init(text: "secret one"), .init(text: "secret two"), .init(text: "plain"),
            .init(text: "secret three", sender: "bob"),
        ])
        #expect(try log.found("secret") == ["lobby:4", "lobby:2", "lobby:1"])
        try log.edit(1, "public")
        try log.delete(2)
        try log.edit(3, "secret after all")
        #expect(try log.found("secret") == ["lobby:4", "lobby:3"])
        #expect(try log.found("public") == ["lobby:1"])
        try log.erase("bob")
        #expect(try log.found("secret") == ["lobby:3"])
    }

    @Test func `leaves out rooms in which nothing is to be searched`() throws {
        let log = try TestLog()
        try log.sendAll([.init(text: "word"), .init(text: "word", room: "den")])
        _ = try log.change(.set(RoomSettings(isSearchable: false)), in: "den", by: "alice").get()
        #expect(try log.found("word") == ["lobby:1"] && log.found("word", in: "den") == [])
        #expect(try !log.summary(of: "den", for: "alice").manners.isSearchable)
        _ = try log.change(.set(RoomSettings(isSearchable: true)), in: "den", by: "alice").get()
        #expect(try Set(log.found("word")) == ["den:1", "lobby:1"] && log.found("word", in: "den") == ["den:1"])
        #expect(try log.summary(of: "den", for: "alice").manners == RoomManners())
    }

    @Test func `can be narrowed to a sender, a part of the room, and messages with an image, a file or a link`() throws
    {
        let clock = TestClock(0)
        let log = try TestLog { $0.clock = { clock.now } }
        func attachment(_ kind: Wire.Attachment.Kind) -> Wire.Attachment {
            Wire.Attachment(kind: kind, url: "http://x", width: 1, height: 1)
        }
        let contents = [
            Content(text: "word"), Content(text: "word", attachments: [attachment(.image)]),
            Content(text: "word", attachments: [attachment(.audio)]),
            Content(text: "word HTTPS://example.com"), Content(text: "word", attachments: [attachment(.link)]),
            Content(text: "word http://"),
        ]
        for (index, content) in contents.enumerated() {
            clock.step(1000)
            _ = try log.outcome(
                log.submission(.send(Draft(clientMessageID: nil, content: content)), by: index == 0 ? "bob" : "alice")
            ).get()
        }
        try log.join("lobby", as: "alice")
        func seqs(room: String? = "lobby", _ narrow: (inout SearchRequest) throws -> Void) throws -> [Int64] {
            var request = SearchRequest(try SearchQuery("word"), limit: 2)
            try narrow(&request)
            return try log.searchAll(request, in: room, as: "alice").map { try Message(decoding: $0.message).seq }
        }
        #expect(try seqs { _ in } == [6, 5, 4, 3, 2, 1])
        #expect(try seqs { $0.sender = try UserID("bob") } == [1])
        #expect(try seqs { $0.has = .image } == [2])
        #expect(try seqs { $0.has = .file } == [3])
        #expect(try seqs { $0.has = .link } == [5, 4])
        #expect(try seqs { ($0.before, $0.after) = (.seq(5), .seq(2)) } == [4, 3])
        #expect(try seqs { ($0.before, $0.after) = (.seq(.max), .seq(0)) } == [6, 5, 4, 3, 2, 1])
        #expect(try seqs { $0.before = .seq(0) } == [] && seqs { $0.after = .seq(.max) } == [])
        let (two, five) = (Timestamp(milliseconds: 2000), Timestamp(milliseconds: 5000))
        for room in ["lobby", nil] {
            #expect(try seqs(room: room) { ($0.before, $0.after) = (.time(five), .time(two)) } == [4, 3, 2])
        }
    }

    @Test func `of all rooms lists hits by time, then room, then place, across pages`() throws {
        let clock = TestClock()
        let log = try TestLog { $0.clock = { clock.now } }
        var expected: [String] = []
        for round in 1...6 {
            // Two rounds have the same time.
            if round % 2 == 0 { clock.step(1000) }
            for room in ["a", "b", "c"] { try log.sendAll([.init(text: "word \(round)", room: room)]) }
        }
        for pair in [[6], [5, 4], [3, 2], [1]] {
            for room in ["c", "b", "a"] { expected += pair.map { "\(room):\($0)" } }
        }
        for limit in [1, 2, 5, 30] { #expect(try log.found("word", limit: limit) == expected) }
    }

    @Test func `shows what the caller may read at the time: memberships, bans, the token's rooms, private rooms`()
        throws
    {
        let log = try TestLog()
        try log.sendAll([.init(text: "word", room: "open"), .init(text: "word", room: "den")])
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "den", by: "alice").get()
        #expect(try log.found("word", as: "bob") == [])
        #expect(try log.found("word", in: "open", as: "bob") == ["open:1"])
        #expect(throws: Problem.roomNotFound) { try log.found("word", in: "den", as: "bob") }
        #expect(try log.found("word", in: "den", as: "root", isAdmin: true) == ["den:1"])
        #expect(throws: Problem.self) {
            try log.read(for: nil) { .search(SearchRequest(try! SearchQuery("word")), in: nil, within: nil, $0) }
        }
        _ = try log.change(.setMember(UserID("bob"), nil), in: "den", by: "alice").get()
        try log.join("open", as: "bob")
        #expect(try Set(log.found("word", as: "bob")) == ["den:1", "open:1"])
        #expect(try log.found("word", as: "bob", within: [#require(RoomPattern("op*"))]) == ["open:1"])
        _ = try log.change(.removeMember(UserID("bob")), in: "den", by: "alice").get()
        #expect(try log.found("word", as: "bob") == ["open:1"])
        #expect(throws: Problem.roomNotFound) { try log.found("word", in: "den", as: "bob") }
        _ = try log.change(.setBan(UserID("bob"), BanSettings(scope: .all)), in: "open", by: "alice").get()
        #expect(try log.found("word", as: "bob") == [])
        #expect(throws: Problem.self) { try log.found("word", in: "open", as: "bob") }
        _ = try log.change(.delete, in: "open", by: "alice").get()
        #expect(try log.found("word") == ["den:1"])
        #expect(throws: Problem.roomDeleted) { try log.found("word", in: "open") }
    }

    @Test func `looks into a direct room for its two users only, also when one has blocked the other`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        try log.sendAll([.init(text: "word", room: room, sender: "bob")])
        try log.block("alice", of: "bob")
        for user in ["alice", "bob"] {
            #expect(try log.found("word", as: user) == ["\(room):1"])
            #expect(try log.found("word", in: room, as: user) == ["\(room):1"])
        }
        #expect(try log.found("word", as: "carol") == [])
        #expect(throws: Problem.roomNotFound) { try log.found("word", in: room, as: "carol") }
        // The user stays a member of a room that is taken off the list.
        _ = try log.change(.removeMember(UserID("alice")), in: room, by: "alice").get()
        #expect(try log.inbox(of: "alice").rooms.isEmpty && log.found("word", as: "alice") == ["\(room):1"])
    }

    @Test func `ends after as many messages as it examines, without hits, and goes on with the cursor`() throws {
        let log = try TestLog { ($0.searchTime, $0.journal.messages, $0.journal.idleTime) = (.seconds(60), 0, 1) }
        try log.sendAll([.init(text: "b a")] + (0..<Limits.searchedMessages).map { _ in .init(text: "a b") })
        // Only the newest messages that are not indexed are searched.
        try log.waitUntilIndexed()
        let slice = try log.search(SearchRequest(SearchQuery("\"b a\"")), in: "lobby", as: "alice")
        #expect(slice.hits.isEmpty && slice.next?.seq == 2)
        for room in ["lobby", nil] { #expect(try log.found("\"b a\"", in: room) == ["lobby:1"]) }
    }

    @Test func `ends after a time with a cursor, and so finds all`() throws {
        let log = try TestLog { ($0.searchTime, $0.scannedFirst) = (.zero, 0) }
        try log.sendAll((1...9).map { .init(text: $0 % 3 == 0 ? "word" : "other") })
        let slice = try log.search(SearchRequest(SearchQuery("word")), in: "lobby", as: "alice")
        #expect(slice.hits.count == 1 && slice.next?.seq == 9)
        for room in ["lobby", nil] { #expect(try log.found("word", in: room) == ["lobby:9", "lobby:6", "lobby:3"]) }
    }
}

@Suite("Any search after any history", .timeLimit(.minutes(30)))
struct SearchModelTests {
    private static let rooms = ["a", "b", "c", "d"]
    private static let users = ["alice", "bob", "carol"]
    private static let words = [
        "회의는", "정기회의", "\u{1112}\u{116C}\u{110B}\u{1174}", "ㅋㅋㅠㅠ", "note", "notes", "Note-book", "東京都", "人々", "𠮷野家",
        "㍿", "タワー", "ﾀﾜｰ",
        "ประชุม", "น้ำ", "x", "grün", "gru\u{308}n", "Straße", "Işık", "👍🏽", "👩\u{200D}💻", "https://a.kr/길?b=1",
        "foo.bar(1)", "ＡＢＣ",
        "سلام", "שלום", "नमस्ते",
    ]
    private static let queries = [
        "회의", "의", "note", "notes -x", "\"회의는 note\"", "東", "人々 -東", "𠮷", "会社", "タワー", "x 회의", "gru", "grü", "strasse",
        "book", "ㅠㅠ",
        "ชุม", "น้ำ", "işı", "👍", "👩", "a.kr/길", "foo.bar(", "abc", "سلا", "שלום", "नम",
    ]

    private func text(_ generator: inout SeededGenerator) -> String {
        (0...Int.random(in: 0..<4, using: &generator)).map { _ in Self.words.randomElement(using: &generator)! }
            .joined(separator: " ")
    }

    /// Makes a random change, which may be refused.
    private func change(_ log: TestLog, _ clock: TestClock, using generator: inout SeededGenerator) throws {
        clock.step(.random(in: 0...1, using: &generator))
        let room = Self.rooms.randomElement(using: &generator)!
        let user = Self.users.randomElement(using: &generator)!
        let other = try UserID(Self.users.randomElement(using: &generator)!)
        func submit(_ change: RoomChange, as user: String = "root") throws {
            _ = try log.change(change, in: room, by: user, isAdmin: user == "root")
        }
        let seq = Int64.random(in: 1...10, using: &generator)
        let text = text(&generator)
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<14: try log.sendAll([.init(text: text, room: room, sender: user)])
        case 14..<22:
            try log.submitAll([log.submission(.init(seq: seq, action: .edit(Edit(text: text)), room: room, user: user))]
            )
        case 22..<26: try log.submitAll([log.submission(.init(seq: seq, action: .delete, room: room, user: user))])
        case 26..<28: _ = try? log.react(to: seq, of: room, as: user)
        case 28..<32: try submit(.setMember(other, nil))
        case 32..<34: try submit(.removeMember(other))
        case 34: try submit(.set(RoomSettings(visibility: Bool.random(using: &generator) ? .private : .open)))
        case 35: try submit(.setBan(other, BanSettings(scope: .all)))
        case 36..<38: try submit(.removeBan(other))
        case 38: try log.erase(user)
        default: if Int.random(in: 0..<8, using: &generator) == 0 { try submit(.delete) }
        }
    }

    /// Returns the messages of a room that match, by reading all of them.
    private func scan(
        _ request: SearchRequest, _ room: String, _ log: TestLog, as user: String
    ) throws -> [(place: String, time: Int64)] {
        var found: [(place: String, time: Int64)] = []
        let head = try log.page(of: room, for: user).state.head
        for seq in stride(from: head, through: 1, by: -1) {
            let message = try Message(
                decoding: #require(try log.ask({ .message(seq: seq, $0) }, of: room, for: user)?.body))
            guard !message.deleted, request.sender.map({ $0 == message.sender }) ?? true,
                request.query.highlights(in: message.content.text) != nil
            else { continue }
            found.append(("\(room):\(seq)", message.createdAt.milliseconds))
        }
        return found
    }

    /// Expects a search of a user to find what a scan finds, in each room and in all.
    private func expectSame(_ request: SearchRequest, _ log: TestLog, as user: String) throws {
        for room in Self.rooms {
            let expected = Result { try scan(request, room, log, as: user).map(\.place) }
            let found = Result { try log.searchAll(request, in: room, as: user).map(\.place) }
            #expect(found.mapError { $0 as! Problem } == expected.mapError { $0 as! Problem })
        }
        var all: [(place: String, time: Int64)] = []
        for room in try log.memberships(of: user, limit: 10).rooms.sorted().reversed() {
            all += try scan(request, room, log, as: user)
        }
        // A stable order: of messages with the same time, those of later rooms come first.
        let expected = all.enumerated().sorted { ($0.element.time, -$0.offset) > ($1.element.time, -$1.offset) }
        #expect(try log.searchAll(request, as: user).map(\.place) == expected.map(\.element.place))
    }

    @Test(arguments: 0..<6)
    func `finds what a scan of all messages finds, while they are indexed and by the index`(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let clock = TestClock(0)
        var log = try TestLog {
            $0.clock = { clock.now }
            $0.journal.messages = seed % 2 == 0 ? 4 : 16_384
            $0.searchTime = seed % 3 == 0 ? .zero : .seconds(60)
            ($0.scannedFirst, $0.listedMatches) = (seed % 2 == 0 ? 512 : 2, seed % 4 == 1 ? 2 : 1000)
            $0.wordBlock = 8
            // Several writers would commit an erasure and changes of rooms in any order.
            $0.writers = 1
        }
        // Rooms get their numbers in this order.
        for room in Self.rooms { try log.sendAll([.init(text: text(&generator), room: room)]) }
        for step in 1...160 {
            try change(log, clock, using: &generator)
            guard step % 8 == 0 else { continue }
            var request = SearchRequest(
                try SearchQuery(Self.queries.randomElement(using: &generator)!),
                limit: .random(in: 1...5, using: &generator))
            if Bool.random(using: &generator) {
                request.sender = try UserID(Self.users.randomElement(using: &generator)!)
            }
            try expectSame(request, log, as: Self.users.randomElement(using: &generator)!)
        }
        log = try log.reopened {
            ($0.scannedMessages, $0.journal.messages, $0.journal.idleTime, $0.wordBlock) = (0, 0, 1, 8)
        }
        try log.waitUntilIndexed()
        for query in Self.queries.shuffled(using: &generator).prefix(10) {
            let user = Self.users.randomElement(using: &generator)!
            try expectSame(SearchRequest(SearchQuery(query), limit: 3), log, as: user)
        }
        log.close()
        try expectSound(log.path)
    }
}
