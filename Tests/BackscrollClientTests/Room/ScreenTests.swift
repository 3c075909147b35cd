import BackscrollTimeline
import Foundation
import Observation
import Synchronization
import TestSupport
import Testing
import Wire

@testable import BackscrollClient

/// The screens of a chat app, each against a live server.
@Suite("A room's screen", .timeLimit(.minutes(30)))
struct ScreenTests {
    @Test func `prepends and appends pages, and tells the direction and the state of each edge`() async throws {
        let server = try ChatServer()
        try await server.fill(30)
        let client = server.client { $0.pageLimit = 10 }
        let room = try await client.room("lobby").open(at: .seq(15))
        let opened = await room.view
        #expect(opened.before == .idle && opened.after == .idle && opened.phase == .idle)
        let phases = Task { () -> Set<String> in
            var phases: Set<String> = []
            for await change in room.changes {
                phases.insert(change.view.phase.rawValue)
                if change.view.before == .end, change.view.after == .end { break }
            }
            return phases
        }
        try await room.load(.before)
        #expect(await room.view.texts.first == "1")
        #expect(await room.view.before == .end)
        try await room.load(.after)
        #expect(await room.view.texts.last == "29")
        #expect(await room.view.after == .idle)
        try await room.load(.after)
        #expect(await room.view.texts == (1...30).map { "\($0)" })
        #expect(await room.view.after == .end)
        #expect(await phases.value.isSubset(of: ["idle", "prepending", "appending"]))
        await client.close()
    }

    @Test func `drops messages far from the reader, and loads them again`() async throws {
        let server = try ChatServer()
        try await server.fill(100)
        let client = server.client {
            $0.pageLimit = 10
            $0.windowLimit = 40
        }
        let room = try await client.room("lobby").open(at: .newest)
        await room.setViewport(atBottom: false, lastVisible: 95)
        for _ in 1...4 { try await room.load(.before) }
        #expect(await room.view.texts == (51...81).map { "\($0)" })
        #expect(await room.view.after == .idle)
        try await room.load(.after)
        #expect(await room.view.texts == (61...91).map { "\($0)" })
        try await room.load(.after)
        #expect(await room.view.texts.last == "100")
        #expect(await room.view.after == .end)
        await client.close()
    }

    @Test func `opens at the first unread message, with the line in the middle, and marks seen messages as read`()
        async throws
    {
        let server = try ChatServer()
        try await server.fill(30)
        let client = server.client { $0.pageLimit = 10 }
        _ = try await client.request("PUT", "/v1/rooms/lobby/read", body: Array(#"{"seq":12}"#.utf8))
        let room = try await client.room("lobby").open(at: .read)
        let view = await room.view
        #expect(view.read == 12 && view.unread == 18)
        let line = try #require(view.rows.firstIndex { $0.content == .unreadLine })
        #expect(view.rows[..<line].last?.seq == 12 && view.rows[line...].dropFirst().first?.seq == 13)
        #expect(view.before == .idle && view.after == .idle)
        var iterator = room.changes.makeAsyncIterator()
        #expect(await iterator.next()?.scroll == .row(.unreadLine))
        await room.setViewport(atBottom: false, lastVisible: 15)
        #expect(await room.view.read == 15)
        #expect(await room.view.unread == 15)
        // The line stays where it was.
        #expect(await room.view.rows.contains { $0.content == .unreadLine })
        var read: Int64? = 0
        while read != 15 { read = try await client.object("GET", "/v1/rooms/lobby").integers["read"] }
        await client.close()
    }

    @Test(arguments: [true, false])
    func `opens at the first unread mention, or goes there; without one to the unread line`(opens: Bool) async throws {
        let server = try ChatServer()
        try await server.fill(30)
        let body = #"{"text":"alice, look","mentions":["alice"]}"#
        let bob = server.client("bob")
        _ = try await bob.request("POST", "/v1/rooms/lobby/messages", body: Array(body.utf8))
        try await server.fill(30)
        let client = server.client { $0.pageLimit = 10 }
        _ = try await client.request("PUT", "/v1/rooms/lobby/read", body: Array(#"{"seq":12}"#.utf8))
        let room = try await client.room("lobby").open(at: opens ? .mention : .newest)
        var iterator = room.changes.makeAsyncIterator()
        if !opens { try await room.jump(to: .mention) }
        while let view = await iterator.next() {
            if case .row(let row) = view.scroll, row.description == "31" { break }
        }
        let view = await room.view
        #expect(view.rows.contains { $0.seq == 31 })
        #expect(view.before == .idle && view.after == .idle && view.read == 12)
        _ = try await client.request("PUT", "/v1/rooms/lobby/read", body: Array(#"{"seq":31}"#.utf8))
        try await room.open(at: .mention)
        while let view = await iterator.next(), view.scroll != .row(.unreadLine) {}
        #expect(await room.view.rows.contains { $0.id == .unreadLine })
        await client.close()
    }

    @Test func `moves the read mark while its screen is in front`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let client = server.client()
        let room = try await client.room("lobby").open()
        try await room.isLive()
        await room.setActive(false)
        await room.setViewport(atBottom: true, lastVisible: 5)
        #expect(await room.view.read == 0)
        await room.setActive(true)
        #expect(await room.view.read == 5)
        await client.close()
    }

    @Test func `shows a new message and follows it at the end`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        await room.setViewport(atBottom: true, lastVisible: 5)
        var changes = room.changes.makeAsyncIterator()
        _ = await changes.next()
        try await server.post("new")
        while let change = await changes.next() {
            guard change.view.texts.last == "new" else { continue }
            #expect(change.scroll == .bottom)
            #expect(change.view.toast == nil)
            break
        }
        await client.close()
    }

    @Test func `shows a new message and announces it to a reader who is scrolled up`() async throws {
        let server = try ChatServer()
        try await server.fill(5)
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        await room.setViewport(atBottom: false, lastVisible: 2)
        try await server.post("one", "two")
        let view = try await room.shows { $0.toast?.count == 2 }
        #expect(view.texts.suffix(2) == ["one", "two"])
        #expect(view.toast?.seq == 7)
        try await room.jump(to: .newest)
        #expect(await room.view.toast == nil)
        await client.close()
    }

    @Test func `only announces a new message while newer pages are not loaded, and drains to the newest`() async throws
    {
        let server = try ChatServer()
        try await server.fill(60)
        let client = server.client { $0.pageLimit = 10 }
        let room = try await client.room("lobby").open(at: .seq(10))
        try await room.isLive()
        try await server.post("new")
        let view = try await room.shows { $0.toast != nil }
        #expect(!view.texts.contains("new"))
        #expect(view.after == .idle)
        try await room.jump(to: .newest)
        let newest = await room.view
        #expect(newest.texts.last == "new")
        #expect(newest.after == .end && newest.toast == nil)
        await client.close()
    }

    @Test(arguments: [nil, "late-answer=300", "double-push", "lost-answer:1", "status=503:2", "status=500:1"])
    func `shows an own send once, whichever of answer and push comes first, and stores it once`(
        fault: String?
    ) async throws {
        let server = try ChatServer()
        try await server.fill(3)
        let client = server.client(faults: fault)
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let log = ChangeLog()
        let logging = Task { for await change in room.changes { await log.add(change) } }
        let draft = ChatDraft("hello")
        let message = try await room.send(draft)
        #expect(message.text == "hello" && message.seq == 4)
        let row = try #require(await room.view.rows.last)
        #expect(row.id == .mine(clientMessageID: draft.clientMessageID))
        #expect(row.content == .message(message, isMine: true))
        try await server.post("after")
        try await room.shows { $0.texts.last == "after" }
        #expect(await room.view.texts == ["1", "2", "3", "hello", "after"])
        #expect(try await server.client().history(of: "lobby").map(\.text) == ["1", "2", "3", "hello", "after"])
        logging.cancel()
        for change in await log.changes { #expect(change.view.texts.count { $0 == "hello" } <= 1) }
        await client.close()
    }

    @Test func `redraws one row for a reaction and for an edit`() async throws {
        let server = try ChatServer()
        try await server.fill(20)
        let client = server.client("bob")
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        var changes = room.changes.makeAsyncIterator()
        _ = await changes.next()
        let alice = try await server.client().room("lobby").open(at: .newest)
        _ = try await alice.react(7, with: "👍")
        var next = try #require(await changes.next())
        while next.difference.isEmpty { next = try #require(await changes.next()) }
        #expect(next.difference.updated.map(\.row.seq) == [7])
        #expect(next.difference.inserted.isEmpty && next.difference.removed.isEmpty && next.difference.moved.isEmpty)
        let edited = try await room.edit(9, text: "changed")
        #expect(edited.text == "changed")
        // The state has it when the call returns.
        #expect(await room.view.texts.dropFirst(8).first == "changed")
        #expect(await MainActor.run { room.timeline.view.texts.dropFirst(8).first } == "changed")
        next = try #require(await changes.next())
        while next.difference.isEmpty { next = try #require(await changes.next()) }
        #expect(next.difference.updated.map(\.row.seq) == [9])
        let deleted = try await room.delete(9)
        #expect(deleted.isDeleted)
        #expect(await room.view.messages.dropFirst(8).first?.isDeleted == true)
        await client.close()
    }

    @Test func `knows the size of a picture before it is loaded, and refuses one without`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open()
        let picture = Attachment(kind: .image, url: "https://example.com/a.jpg", width: 1200, height: 800)
        let message = try await room.send(ChatDraft(attachments: [picture]))
        #expect(message.attachments == [picture])
        var bad = picture
        bad.width = nil
        let draft = ChatDraft("look", attachments: [bad])
        let error = await #expect(throws: BackscrollClientError.self) { try await room.send(draft) }
        #expect(error?.code == "size_missing" && error?.status == 422)
        let row = try #require(await room.view.rows.last)
        #expect(row.content == .send(draft, .failed(code: "size_missing")))
        await room.discard(draft.clientMessageID)
        #expect(await room.view.texts == [""])
        await client.close()
    }

    @Test func `shows a flood of messages at the pace of a screen`() async throws {
        let server = try ChatServer()
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let counting = Task {
            var count = 0
            for await change in room.changes {
                count += 1
                if change.view.rows.last?.seq == 1000 { break }
            }
            return count
        }
        let start = ContinuousClock.now
        let number = await room.subscriptionNumber
        for seq in 1...1000 as ClosedRange<Int64> {
            await room.receive(.frame(.init(.message(.model(seq: seq, rev: seq)), room: "lobby")), number: number)
        }
        let count = await counting.value
        // The first change of a loop has what is there, and one change may have been due at the start.
        #expect(Double(count) <= (ContinuousClock.now - start) / Room.showInterval + 3)
        #expect(await room.view.messages.count == 1000)
        await client.close()
    }

    @Test func `has the documented bounds`() {
        let options = ClientOptions()
        #expect(options.restoredMessages == 200 && options.storeDelay == .milliseconds(100))
        #expect(options.onStoreFailure == nil && Room.showInterval == .milliseconds(8))
    }

    @Test func `draws the rows again for messages only, not for typing notices`() async throws {
        let server = try ChatServer()
        let transport = FaultyTransport()
        let client = server.client {
            $0.transport = transport
            // On a fast clock the notice could be over before it is shown.
            $0.clock = ClientClock()
        }
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        let drawn = Flag()
        await observe(room.timeline, drawn)
        transport.socket?.inject(#"{"type":"typing","room":"lobby","user":"bob"}"#)
        try await room.shows { $0.typing == ["bob"] }
        while await room.timeline.typing.isEmpty { await Task.yield() }
        #expect(!drawn.isRaised)
        try await server.post("hello")
        while await room.timeline.rows.isEmpty { await Task.yield() }
        #expect(drawn.isRaised)
        await client.close()
    }

    @Test func `puts messages under the day of their own time, by the offset in force then`() async throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let offsets = UTCOffsets(of: berlin, at: 1_795_000_000_000)
        #expect(offsets.minutes(at: 1_782_000_000_000) == 120 && offsets.minutes(at: 1_795_000_000_000) == 60)
        // 2026-03-29, 01:00 UTC
        #expect(offsets.changes.contains { $0 == .init(time: 1_774_746_000_000, minutes: 120) })
        let server = try ChatServer()
        try await server.post("hello")
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        let day = try #require(await room.view.rows.first?.id)
        await room.setUTCOffsets(UTCOffsets(24 * 60))
        #expect(await room.view.rows.first?.id != day)
        await client.close()
    }

    @Test func `has a constant for each code of the server`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../../Sources/BackscrollClient/Client/BackscrollClientError+Codes.swift")
        let source = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        for code in Problem.Code.allCases { #expect(source.contains("= \"\(code.rawValue)\"\n"), "\(code)") }
        #expect(BackscrollClientError.notAMember == "not_a_member")
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    var isRaised: Bool { state.withLock { $0 } }

    func raise() { state.withLock { $0 = true } }
}

/// Raises the flag when something changes that a list of the rows would draw.
@MainActor private func observe(_ timeline: RoomTimeline, _ flag: Flag) {
    withObservationTracking {
        _ = timeline.rows
    } onChange: {
        flag.raise()
    }
}
