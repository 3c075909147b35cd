import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

/// Tests export and import with real databases and files.
@Suite("An export", .partOfSQLite(.files))
struct TransferTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: Files

    /// Exports a database to text.
    private func export(_ path: String) throws -> String {
        let file = directory.path(of: "out.jsonl")
        let descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let contents = try HistoryExport(of: path).run(to: descriptor)
        let text = try run("cat", file)
        #expect(contents.bytes == Int64(text.utf8.count))
        return text
    }

    /// Imports text into a database.
    @discardableResult
    private func importing(_ text: String, into path: String) throws -> HistoryImport.Contents {
        let file = directory.path(of: "in.jsonl")
        let out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        #expect(write(out, bytes, bytes.count) == bytes.count)
        close(out)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        return try HistoryImport(into: path).run(from: descriptor)
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

    private func message(_ fields: String, room: String = "lobby") -> String {
        #"{"room":"\#(room)","sender":"alice","created_at":"2026-01-01T00:00:00Z",\#(fields)}"# + "\n"
    }

    /// Imports lines that must be refused.
    private func refusal(_ text: String, into path: String? = nil) throws -> HistoryImport.Failure {
        let failure = #expect(throws: HistoryImport.Failure.self) {
            try importing(text, into: path ?? directory.path(of: "refused.db"))
        }
        return try #require(failure)
    }

    // MARK: There and back

    @Test func `leaves out what waits for the removal of an erased user`() throws {
        let log = try TestLog(in: directory)
        try log.send(.init(sender: "alice"))
        for user in ["alice", "bob"] {
            try log.join("lobby", as: user)
            try log.read(to: 1, as: user)
            _ = try log.change(.setNotify(NotifySettings(level: .none)), by: user).get()
        }
        log.close()
        let kinds = ["member", "read", "notify"].map { #"{"type":"\#($0)""# }
        for isErased in [false, true] {
            if isErased { try log.execute("INSERT INTO erasures (\"user\", erased, messages) VALUES ('bob', 0, 0)") }
            let found = try lines(export(log.path)).filter { line in kinds.contains { line.hasPrefix($0) } }
            #expect(found.count == (isErased ? 3 : 6) && found.contains { $0.contains("bob") } != isErased)
        }
    }

    @Test func `of a direct room keeps its two users and whose list it is in; its id must follow from them`() throws {
        let log = try TestLog(in: directory)
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        try log.block("alice", of: "mallory")
        let notify = NotifySettings(level: .mentions, roomMentions: false)
        _ = try log.change(.setNotify(notify), in: room, by: "bob").get()
        _ = try log.change(.removeMember(try UserID("bob")), in: room, by: "bob").get()
        log.close()
        let text = try export(log.path)
        #expect(text.contains(#""visibility":"private","direct":["alice","bob"]}"#))
        let path = directory.path(of: "direct.db")
        #expect(text.contains(#"{"type":"block","user":"alice","blocked":"mallory","created_at":""#))
        #expect(
            text.contains(
                #"{"type":"notify","room":"\#(room)","user":"bob","level":"mentions","room_mentions":false}"#))
        for _ in 0..<2 { try importing(text, into: path) }
        #expect(try lines(export(path)).dropFirst() == lines(text).dropFirst())
        try expectSound(path)
        // What the users have done since the first import stays.
        let later = try TestLog(at: path, of: directory)
        _ = try later.change(.setNotify(NotifySettings(level: .none)), in: room, by: "bob").get()
        try later.send(.init(room: room))
        try later.read(to: 2, in: room, as: "bob")
        later.close()
        let since = try export(path)
        #expect(!since.contains("hidden"))
        try importing(text, into: path)
        #expect(try lines(export(path)).dropFirst() == lines(since).dropFirst())
        let line = #"{"type":"room","room":"\#(room)","visibility":"private""#
        for end in ["}", #","direct":["alice"]}"#, #","direct":["alice","carol"]}"#] {
            #expect(try refusal(line + end + "\n").problem.field == "direct")
        }
        #expect(try refusal(message(#""text":"x""#, room: room)).problem == .roomNotFound)
        let member = #"{"type":"member","room":"\#(room)","user":"carol","role":"owner"}"#
        #expect(try refusal(line + #","direct":["alice","bob"]}"# + "\n\(member)\n").problem == .directRoom)
    }

    @Test func `keeps tombstones of erased senders, and makes nobody their room's owner`() throws {
        let start = #"{"room":"lobby","sender":"~deleted","created_at":"2026-01-01T00:00:00Z","#
        let path = directory.path(of: "erased.db")
        #expect(try importing(start + #""deleted":true}"# + "\n", into: path).messages == 1)
        let text = try export(path)
        #expect(text.contains(#""sender":"~deleted""#) && !text.contains(#""type":"member""#))
        try expectSound(path)
        #expect(throws: HistoryImport.Failure.self) { try importing(start + #""text":"x"}"# + "\n", into: path) }
    }

    @Test func `keeps what an erasure leaves: mentions without effect, and private rooms without an owner`() throws {
        let log = try TestLog(in: directory)
        try log.send(.init(mentions: ["bob", "carol"]))
        try log.send(.init(room: "solo", sender: "bob"))
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "solo", by: "bob").get()
        let bob = try UserID("bob")
        let erase = Submission(
            ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"), change: .user(bob, .erase),
            isAdmin: true)
        _ = try log.outcome(erase).get()
        try waitUntil {
            let status: ErasureStatus?? = try? log.read(for: "root", isAdmin: true) { .server(.erasure(bob, $0)) }
            return status??.state == .erased
        }
        // Of the new user.
        try log.send(.init(mentions: ["bob"]))
        log.close()
        let text = try export(log.path)
        #expect(text.contains(#""mentions":["bob","carol"]"#) && text.contains(#","past_mentions":["bob"]}"#))
        let path = directory.path(of: "erased-mentions.db")
        try importing(text, into: path)
        #expect(try lines(export(path)).dropFirst() == lines(text).dropFirst())
        let check = try DatabaseCheck(path).run()
        #expect(check.isSound && check.notes.map(\.text).contains("private rooms without an owner: 1"))
        let copy = try TestLog(at: path, of: directory)
        #expect(try copy.summary(for: "bob").unreadMentions == 1 && copy.summary(for: "carol").unreadMentions == 1)
        copy.close()
    }

    @Test func `drops fractions of a millisecond, and takes over blank texts of earlier versions`() throws {
        let path = directory.path(of: "fractions.db")
        let times = #""created_at":"2026-01-01T00:00:00.123456Z","edited_at":"2026-01-01T00:00:01.9999999Z""#
        try importing(#"{"room":"lobby","sender":"alice","text":" ",\#(times)}"# + "\n", into: path)
        let text = try export(path)
        #expect(text.contains(#""created_at":"2026-01-01T00:00:00.123Z""#))
        #expect(text.contains(#""edited_at":"2026-01-01T00:00:01.999Z""#))
        #expect(try importing(text, into: directory.path(of: "again.db")).messages == 1)
    }

    @Test func `of everything in a room is imported unchanged, and a second import adds nothing`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.send(.init(text: "hello \u{2028}\"", id: "a1", data: #"{"a":[1,{"reactions":[]}]}"#))
        try log.fill(3)
        try log.edit(1, "changed")
        try log.delete(2)
        for number in 0..<60 { try log.react(to: 3, as: "user\(number)") }
        try log.react("+1", to: 3, as: "bob")
        for seq in [3, 4] as [Int64] { _ = try log.change(TestLog.Change(seq: seq, action: .pin)) }
        let answer = TestLog.Send(
            text: "answer", sender: "bob", id: "b1", replyTo: 3, mentions: ["alice", "bob"], mentionsRoom: true)
        try log.send(answer)
        let attic = RoomSettings(visibility: .private, title: "Plans")
        _ = try log.change(.set(attic), in: "attic", by: "carol").get()
        _ = try log.change(.setMember(UserID("bob"), .member), in: "attic", by: "carol").get()
        try log.fill(2, "den")
        var settings = RoomSettings.every
        settings.visibility = .open
        _ = try log.change(.set(settings), in: "den", by: "alice").get()
        try log.read(to: 4, as: "bob")
        var profile = try log.submission(
            .user(UserID("bob"), .setProfile(ProfileSettings(name: "Bob", data: Array(#"{"a":[1]}"#.utf8)))), by: "bob")
        profile.room = nil
        _ = try log.outcome(profile).get()
        let text = try export(log.path)
        #expect(lines(text).contains(#"{"type":"profile","user":"bob","name":"Bob","data":{"a":[1]}}"#))
        #expect(lines(text).first?.hasPrefix(#"{"type":"export","version":1,"epoch":""#) == true)
        #expect(lines(text).last == #"{"type":"end","messages":7}"#)
        // All 60 users, although clients see 50.
        #expect(text.contains("\"user59\"") && !text.contains("\"rev\""))

        let other = directory.path(of: "other.db")
        let contents = try importing(text, into: other)
        #expect(contents.messages == 7 && contents.rooms == 3 && contents.repeated == 0 && contents.isWhole)
        #expect(text.contains(#""mentions":["alice","bob"],"mentions_room":true"#))
        try expectSound(other)
        let again = try importing(text, into: other)
        #expect(again.messages == 0 && again.rooms == 0 && again.repeated == 7)
        try expectSound(other)
        // The histories are equal except for their names.
        #expect(Array(lines(try export(other)).dropFirst().sorted()) == lines(text).dropFirst().sorted())

        let copy = try TestLog(at: other, of: directory)
        #expect(try copy.summary(of: "den", for: nil).manners == .every)
        let page = try copy.page(for: "bob")
        #expect(page.state.head == 5)
        #expect(try copy.summary(for: "bob").read == 4)
        #expect(try copy.reads() == log.reads() && log.reads().reads[0].at != nil)
        let pins = try copy.ask { .pins(before: nil, limit: 50, $0) }
        #expect(pins.messages == joined([try #require(try copy.message(4)), try #require(try copy.message(3))]))
        // Repeated sends are recognized and not stored twice.
        let repeated = try copy.send(answer)
        #expect(repeated.seq == 5 && !repeated.isNew)
        #expect(try copy.fill(1).count == 1)
        // Removing a reaction brings the next user among the first 50.
        try copy.unreact(to: 3, as: "user0")
        copy.close()
        try expectSound(other)
    }

    @Test func `shows one moment, while a server runs`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.fill(3)
        let text = try export(log.path)
        try log.fill(2)
        #expect(lines(text).count { $0.contains(#""type":"message""#) } == 3)
        #expect(throws: StoreError.self) { try importing(text, into: log.path) }
    }

    @Test func `of many messages is imported in several transactions`() throws {
        let count = HistoryImport.batchLines + 500
        var text = ""
        for number in 1...count { text += message(#""seq":\#(number),"client_message_id":"m\#(number)","text":"x""#) }
        let path = directory.path(of: "many.db")
        var reports = 0
        let file = directory.path(of: "many.jsonl")
        let bytes = Array(text.utf8)
        let out = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(write(out, bytes, bytes.count) == bytes.count)
        close(out)
        // Cancelled after the first transaction, and continued by another import.
        var descriptor = open(file, O_RDONLY | O_CLOEXEC)
        let first = try HistoryImport(into: path).run(from: descriptor, isCancelled: { true }) { _ in reports += 1 }
        close(descriptor)
        #expect(first.isCancelled && first.lines == Int64(HistoryImport.batchLines) && reports == 1)
        descriptor = open(file, O_RDONLY | O_CLOEXEC)
        let second = try HistoryImport(into: path).run(from: descriptor)
        close(descriptor)
        #expect(second.messages == 500 && second.repeated == Int64(HistoryImport.batchLines))
        try expectSound(path)
    }

    // MARK: Into rooms that have messages

    @Test func `is appended after the newest message, with replies and read marks adjusted`() throws {
        let clock = TestClock(1_500_000_000_000)
        let log = try TestLog(in: directory) { $0.clock = { clock.now } }
        try log.fill(3)
        log.close()
        let text =
            message(#""seq":1,"client_message_id":"a","text":"one""#)
            + message(#""seq":2,"client_message_id":"b","text":"two","reply_to":1"#)
            + #"{"type":"read","room":"lobby","user":"bob","seq":1}"# + "\n"
        let contents = try importing(text, into: log.path)
        #expect(contents.messages == 2 && contents.rooms == 0)
        try expectSound(log.path)
        let after = try TestLog(at: log.path, of: directory) { $0.clock = { clock.now } }
        let page = String(decoding: try after.page().messages, as: UTF8.self)
        #expect(page.contains(#""seq":5,"rev":5"#) && page.contains(#""reply_to":4"#))
        #expect(try after.summary(for: "bob").read == 4)
        // Later messages are not older than the imported ones.
        try after.send(.init(text: "late"))
        after.close()
        try expectSound(log.path)
        #expect(try importing(text, into: log.path).repeated == 2)
    }

    @Test func `keeps the roles and profiles that have changed since it was imported`() throws {
        let path = directory.path(of: "changed.db")
        let text =
            message(#""client_message_id":"a","text":"x""#)
            + #"{"type":"member","room":"lobby","user":"bob","role":"owner"}"# + "\n"
            + #"{"type":"profile","user":"bob","name":"Bob"}"# + "\n"
        try importing(text, into: path)
        let log = try TestLog(at: path, of: directory)
        let bob = try UserID("bob")
        _ = try log.change(.setMember(bob, .member), by: "alice").get()
        var rename = try log.submission(.user(bob, .setProfile(ProfileSettings(name: "Robert"))), by: "bob")
        rename.room = nil
        _ = try log.outcome(rename).get()
        log.close()
        try importing(text, into: path)
        let found = try lines(export(path))
        #expect(found.contains(#"{"type":"member","room":"lobby","user":"bob","role":"member"}"#))
        #expect(found.contains(#"{"type":"profile","user":"bob","name":"Robert"}"#))
    }

    @Test func `replaces settings of what may disturb that have ended, and no others`() throws {
        let clock = TestClock(Timestamp.now().milliseconds - 60_000)
        let log = try TestLog(in: directory) { $0.clock = { clock.now } }
        try log.fill(1)
        let ends = Timestamp(milliseconds: clock.now.milliseconds + 1000)
        _ = try log.change(.setNotify(NotifySettings(level: .none, until: ends)), by: "alice").get()
        _ = try log.change(.setNotify(NotifySettings(level: .none)), by: "bob").get()
        log.close()
        let text = ["alice", "bob"].map { user in
            #"{"type":"notify","room":"lobby","user":"\#(user)","level":"mentions"}"# + "\n"
        }
        try importing(text.joined(), into: log.path)
        let after = try TestLog(at: log.path, of: directory)
        #expect(try after.summary(for: "alice").notify == NotifySettings(level: .mentions))
        #expect(try after.summary(for: "bob").notify == NotifySettings(level: .none))
        after.close()
    }

    @Test func `without client message ids is recognized by places, senders and times`() throws {
        let text = (1...3).map { message(#""seq":\#($0),"text":"\#($0)""#) }.joined()
        let path = directory.path(of: "plain.db")
        #expect(try importing(text, into: path).messages == 3)
        #expect(try importing(text, into: path).repeated == 3)
        let more = text + message(#""seq":4,"text":"4""#)
        let contents = try importing(more, into: path)
        #expect(contents.repeated == 3 && contents.messages == 1)
        try expectSound(path)
    }

    @Test func `that is older than the newest message of its room is refused as a whole`() throws {
        let log = try TestLog(in: directory)
        try log.fill(1)
        log.close()
        let failure = try refusal(message(#""text":"x""#), into: log.path)
        #expect(failure.line == 1 && failure.stored == 0 && failure.problem.field == "created_at")
        #expect(try TestLog(at: log.path, of: directory).state().head == 1)
    }

    // MARK: Lines that are wrong

    @Test func `is refused with the line and field of an error, and nothing of the transaction is stored`() throws {
        let good = message(#""text":"x""#)
        let cases: [(String, String?)] = [
            ("nonsense", nil), ("[1]", nil), (#"{"type":"letter"}"#, "type"), (message(#""text":1"#), "text"),
            (message(#""text":"""#), nil), (message(#""text":"x""#, room: "no room"), "room"),
            (#"{"room":"a","sender":"b c","created_at":"2026-01-01T00:00:00Z","text":"x"}"#, "sender"),
            (#"{"room":"a","sender":"..","created_at":"2026-01-01T00:00:00Z","text":"x"}"#, "sender"),
            (#"{"room":"a","sender":"b","created_at":"yesterday","text":"x"}"#, "created_at"),
            (#"{"room":"a","sender":"b","created_at":"2999-01-01T00:00:00Z","text":"x"}"#, "created_at"),
            (message(#""text":"x","edited_at":"2025-01-01T00:00:00Z""#), "edited_at"),
            (message(#""text":"x","reply_to":9"#), "reply_to"),
            (message(#""seq":7,"text":"x","reply_to":3"#), "reply_to"),
            (message(#""text":"x","reactions":[{"key":"+1","count":3}]"#), "reactions"),
            (message(#""text":"x","attachments":[{"type":"image","url":"http://x"}]"#), "attachments[0].width"),
            (#"{"type":"member","room":"nowhere","user":"bob"}"#, nil),
            (#"{"type":"read","room":"lobby","user":"bob","seq":1,"at":"soon"}"#, "at"),
            (#"{"type":"read","room":"lobby","user":"bob","seq":1,"at":"2999-01-01T00:00:00Z"}"#, "at"),
            (#"{"type":"profile","user":"bob","avatar":"javascript:x"}"#, "avatar"),
            (#"{"avatar":"javascript:x","user":"bob","type":"profile"}"#, "avatar"),
            (#"{"type":"room","room":"den","avatar":"http://example.com/a"}"#, "avatar"),
            (#"{"avatar":"http://example.com/a","room":"den","type":"room"}"#, "avatar"),
            (#"{"type":"block","user":"bob","blocked":"bob","created_at":"2026-01-01T00:00:00Z"}"#, nil),
            (#"{"type":"profile","name":"Bob"}"#, "user"), (#"{"type":"profile","user":"bob","name":1}"#, "name"),
            (#"{"type":"end","messages":5}"#, "messages"), (#"{"type":"export","version":1}"#, "type"),
            (#"{"type":"export","version":2}"#, "version"),
        ]
        for (line, field) in cases {
            let path = directory.path(of: "wrong.db")
            let failure = try refusal(good + line + "\n" + good, into: path)
            #expect(failure.line == 2 && failure.stored == 0, "\(line)")
            if let field { #expect(failure.problem.field == field, "\(line) \(failure)") }
            #expect(failure.description.contains("line 2") && failure.description.contains("Nothing has been imported"))
            #expect(try DatabaseCheck(path).run().messages == 0)
        }
    }

    @Test func `may have the members of a line in any order`() throws {
        let path = directory.path(of: "order.db")
        let profile = #"{"type":"profile","user":"bob","avatar":"http://example.com/a"}"#
        try importing(#"{"avatar":"http://example.com/a","user":"bob","type":"profile"}"# + "\n", into: path)
        #expect(try lines(export(path)).contains(Substring(profile)))
    }

    @Test func `has no deleted rooms, and restores none`() throws {
        let log = try TestLog(in: directory)
        try log.fill(2)
        try log.fill(1, "den")
        _ = try log.change(.delete, in: "den", by: "alice").get()
        let text = try export(log.path)
        #expect(!text.contains("den") && text.contains("lobby"))
        log.close()
        let failure = try refusal(message(#""text":"x""#, room: "den"), into: log.path)
        #expect(failure.problem.code == .roomDeleted && failure.problem.field == nil)
    }

    @Test func `is complete only with its last line`() throws {
        let log = try TestLog()
        try log.fill(2)
        let text = try export(log.path)
        let path = directory.path(of: "cut.db")
        let cut = lines(text).dropLast().joined(separator: "\r\n")
        let contents = try importing(cut, into: path)
        #expect(!contents.isWhole && contents.messages == 2)
        #expect(try importing(text, into: path).isWhole)
        #expect(try refusal(text + message(#""text":"x""#), into: path).problem.field == "type")
    }
}
