import Chat
import TestSupport
import Testing
import Wire

@testable import Store

extension TestLog {
    /// Returns the reported messages.
    func reports(isOpen: Bool = true) throws -> [Report] {
        let request = ReportsRequest(isOpen: isOpen)
        return try read(for: "root", isAdmin: true) { .server(.reports(request, $0)) }.reports
    }
}

@Suite("A report")
struct ReportTests {
    private let clock = TestClock()

    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        try TestLog {
            $0.clock = { [clock] in clock.now }
            configure(&$0)
        }
    }

    private func code(_ result: Result<Receipt, Problem>) -> String? {
        if case .failure(let problem) = result { problem.code.string } else { nil }
    }

    private func report(
        _ seq: Int64, of room: String = "lobby", as reason: ReportDraft.Reason = .abuse, _ note: String? = nil,
        by user: String, _ log: TestLog
    ) throws -> Result<Receipt, Problem> {
        try log.change(.report(seq: seq, ReportDraft(reason: reason, note: note)), in: room, by: user)
    }

    private func close(
        _ seq: Int64, of room: String = "lobby", as action: ReportAction = .none, isAdmin: Bool = true, _ log: TestLog
    ) throws -> Result<Receipt, Problem> {
        try log.change(.closeReport(seq: seq, action), in: room, by: "root", isAdmin: isAdmin)
    }

    private func list(isOpen: Bool = true, _ log: TestLog) throws -> [Report] {
        try log.reports(isOpen: isOpen)
    }

    private func message(_ report: Report) throws -> Message { try Message(decoding: report.message) }

    @Test func `counts once for each user, and keeps the message as it was when it was first reported`() throws {
        let log = try makeLog()
        try log.send(.init(text: "you are awful", sender: "bob"))
        try log.react(to: 1, as: "carol")
        #expect(try report(1, as: .abuse, "hurts", by: "alice", log).get().isNew)
        clock.step(1000)
        // The first one stays.
        let again = try report(1, as: .spam, by: "alice", log).get()
        #expect(String(decoding: again.body, as: UTF8.self).contains(#""reason":"abuse","note":"hurts""#))
        try log.edit(1, "you are lovely", as: "bob")
        for user in ["carol", "dave"] { _ = try report(1, as: .spam, by: user, log).get() }
        try log.delete(1, as: "bob")
        #expect(try code(report(1, by: "erin", log)) == "message_deleted")
        let open = try list(log)
        #expect(open.count == 1 && open[0].reasons == [.abuse: 1, .spam: 2])
        #expect(open[0].entries.map(\.user.string) == ["alice", "carol", "dave"])
        let kept = try message(open[0])
        #expect(kept.content.text == "you are awful" && kept.reactions.isEmpty && kept.seq == 1)
        #expect(try list(isOpen: false, log) == [])
        log.close()
        try expectSound(log.path)
    }

    @Test func `is for those who may read the message`() throws {
        let log = try makeLog()
        try log.send(.init(room: "den"))
        _ = try log.change(.set(RoomSettings(visibility: .private)), in: "den", by: "alice").get()
        #expect(try code(report(1, of: "den", by: "bob", log)) == "room_not_found")
        #expect(try code(report(2, of: "den", by: "alice", log)) == "message_not_found")
        #expect(try code(report(1, of: "nowhere", by: "alice", log)) == "message_not_found")
        #expect(try code(report(1, of: "den", by: "alice", log)) == nil)
        // In a direct room, blocked or not.
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        _ = try log.change(.setBlock(try UserID("bob"), true), in: room, by: "alice").get()
        #expect(try code(report(1, of: room, by: "bob", log)) == nil)
        #expect(throws: Problem.notAnAdmin) {
            let request = ReportsRequest()
            return try log.read(for: "alice") { .server(.reports(request, $0)) }
        }
    }

    @Test func `can be made five times in a minute, and waits for the first to be a minute old`() throws {
        let log = try makeLog()
        try log.fill(8)
        for seq in 1...5 as ClosedRange<Int64> {
            #expect(try code(report(seq, by: "bob", log)) == nil)
            clock.step(1000)
        }
        #expect(try report(6, by: "bob", log) == .failure(.rateLimited(retryAfter: 55)))
        // A repeated one is answered, and others may report.
        #expect(try code(report(5, by: "bob", log)) == nil && code(report(6, by: "carol", log)) == nil)
        clock.step(54_999)
        #expect(try report(6, by: "bob", log) == .failure(.rateLimited(retryAfter: 1)))
        clock.step(1)
        #expect(try code(report(6, by: "bob", log)) == nil)
        #expect(try code(report(7, by: "bob", log)) == "rate_limited")
    }

    @Test func `is closed with the time from the report to the action, and opened by the next one`() throws {
        var log = try makeLog()
        try log.fill(3)
        for seq in 1...3 as ClosedRange<Int64> { _ = try report(seq, by: "bob", log).get() }
        clock.step(90_500)
        #expect(try code(close(1, isAdmin: false, log)) == "forbidden")
        #expect(try code(close(9, log)) == "report_not_found" && code(close(1, of: "no", log)) == "report_not_found")
        let answer = String(decoding: try close(2, as: .deleted, log).get().body, as: UTF8.self)
        #expect(answer.contains(#""state":"closed""#) && answer.contains(#""seconds_to_action":90,"#))
        #expect(answer.contains(#""action":"deleted""#) && answer.contains(#""closed_by":"root""#))
        clock.step(5000)
        // The time of the first decision stays.
        #expect(try close(2, as: .banned, log).get().body.count > 0)
        _ = try close(1, log).get()
        for _ in 0..<2 {
            #expect(try list(log).map(\.seq) == [3])
            let closed = try list(isOpen: false, log)
            #expect(closed.map(\.seq) == [2, 1] && closed[0].closing?.action == .banned)
            #expect(closed[0].closing.map { $0.at.milliseconds - closed[0].reportedAt.milliseconds } == 90_500)
            log = try log.reopened { $0.clock = { [clock] in clock.now } }
        }
        _ = try report(2, by: "carol", log).get()
        // It takes the place of its new time.
        #expect(try list(log).map(\.seq) == [3, 2])
        #expect(try list(log)[1].reportedAt == clock.now && list(log)[1].reasons == [.abuse: 2])
        // It outlives the room.
        _ = try log.change(.delete, by: "alice").get()
        #expect(try code(close(2, log)) == nil && list(log).map(\.seq) == [3])
    }

    @Test func `is listed in pages`() throws {
        let log = try makeLog()
        try log.fill(5)
        for seq in 1...5 as ClosedRange<Int64> { _ = try report(seq, by: "user\(seq)", log).get() }
        func pages(isOpen: Bool) throws -> [[Int64]] {
            var (pages, request) = ([[Int64]](), ReportsRequest(isOpen: isOpen, limit: 2))
            repeat {
                let page = try log.read(for: "root", isAdmin: true) { [request] in .server(.reports(request, $0)) }
                pages.append(page.reports.map(\.seq))
                request.cursor = page.next
            } while request.cursor != nil
            return pages
        }
        #expect(try pages(isOpen: true) == [[1, 2], [3, 4], [5]])
        for seq in [2, 3, 5] as [Int64] { _ = try close(seq, log).get() }
        #expect(try pages(isOpen: true) == [[1, 4]] && pages(isOpen: false) == [[5, 3], [2]])
        clock.step(1)
        for seq in [3, 2, 1] as [Int64] { _ = try report(seq, by: "alice", log).get() }
        #expect(try pages(isOpen: true) == [[1, 4], [2, 3]] && pages(isOpen: false) == [[5]])
    }

    @Test func `keeps its place in the list while a page is read, and goes to the end when it is opened again`() throws
    {
        let log = try makeLog()
        try log.fill(4)
        for seq in 1...4 as ClosedRange<Int64> {
            _ = try report(seq, by: "bob", log).get()
            clock.step(1)
        }
        let page = try log.read(for: "root", isAdmin: true) { .server(.reports(ReportsRequest(limit: 2), $0)) }
        #expect(page.reports.map(\.seq) == [1, 2])
        // The last one of the page, and one of the next.
        for seq in [2, 3] as [Int64] {
            _ = try close(seq, log).get()
            _ = try report(seq, by: "carol", log).get()
        }
        let request = ReportsRequest(cursor: page.next)
        let rest = try log.read(for: "root", isAdmin: true) { .server(.reports(request, $0)) }
        #expect(rest.reports.map(\.seq) == [4, 2, 3])
        #expect(try list(log).map(\.reportedAt) == list(log).map(\.reportedAt).sorted())
    }

    @Test func `that an erased moderator has closed keeps the decision without the name`() throws {
        let log = try makeLog { $0.writers = 1 }
        try log.send(.init())
        _ = try report(1, by: "carol", log).get()
        _ = try close(1, log).get()
        let root = try UserID("root")
        #expect(try list(isOpen: false, log).map { $0.closing?.by } == [root])
        let erase = Submission(
            ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("admin"), change: .user(root, .erase),
            isAdmin: true)
        _ = try log.outcome(erase).get()
        #expect(try list(isOpen: false, log).map { $0.closing?.by } == [.deleted])
    }

    @Test func `of an erased user's message goes, and so do the reports that the user made`() throws {
        let log = try makeLog { $0.writers = 1 }
        for sender in ["bob", "alice", "bob"] { try log.send(.init(text: "by \(sender)", sender: sender)) }
        for seq in 1...3 as ClosedRange<Int64> { _ = try report(seq, by: "carol", log).get() }
        _ = try report(2, as: .other, "from bob", by: "bob", log).get()
        let user = try UserID("bob")
        let erase = Submission(
            ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"), change: .user(user, .erase),
            isAdmin: true)
        let results = try log.submitAll(
            [erase, log.submission(.room(.report(seq: 3, ReportDraft(reason: .spam))), by: "dave")]
                + log.submissions([.init(text: "by a new bob", sender: "bob")])
                + [
                    log.submission(.room(.report(seq: 3, ReportDraft(reason: .spam))), by: "dave"),
                    log.submission(.room(.report(seq: 3, ReportDraft(reason: .spam))), by: "bob"),
                    log.submission(.room(.report(seq: 4, ReportDraft(reason: .spam))), by: "dave"),
                    log.submission(.room(.report(seq: 4, ReportDraft(reason: .spam))), by: "bob"),
                ])
        // The messages of the old user are about to be deleted, those of a new one with the same name are not.
        let refused = "message_deleted"
        #expect(results.map { code($0) } == [nil, refused, nil, refused, refused, nil, nil])
        try waitUntil {
            let status: ErasureStatus? = try? log.read(for: "root", isAdmin: true) { .server(.erasure(user, $0)) }
            return status?.state == .erased
        }
        let left = try list(log)
        #expect(left.map(\.seq) == [2, 4] && left[0].entries.map(\.user.string) == ["carol"])
        #expect(Set(left[1].entries.map(\.user.string)) == ["dave", "bob"])
        #expect(try log.count("reports") == 2 && log.count("reporters") == 3)
        log.close()
        try expectSound(log.path)
    }
}
