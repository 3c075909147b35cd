import Chat
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A damaged page of the database", .partOfSQLite(.files))
struct DamageTests {
    /// Creates a log with small messages and an unreadable large one, second in the lobby.
    private func damagedLog() throws -> TestLog {
        let log = try TestLog { $0.readers = 1 }
        try log.sendAll([
            .init(text: "before"), .init(text: String(repeating: "x", count: 16_384)), .init(text: "after"),
            .init(text: "next door", room: "attic"),
        ])
        log.close()
        try cutLargeMessage(log.path)
        return try log.reopened { $0.readers = 1 }
    }

    /// Breaks the chain of overflow pages of a large message.
    private func cutLargeMessage(_ path: String) throws {
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var page = [UInt8](repeating: 0, count: StoreConfiguration.pageSize)
        var offset: off_t = 0
        while pread(file, &page, page.count, offset) == page.count {
            if page[4..<page.count - 8].allSatisfy({ $0 == UInt8(ascii: "x") }) {
                let nowhere: [UInt8] = [0x7F, 0x7F, 0x7F, 0x7F]
                #expect(pwrite(file, nowhere, nowhere.count, offset) == nowhere.count)
                return
            }
            offset += off_t(page.count)
        }
        Issue.record("no page is full of the large message")
    }

    @Test func `fails only the queries that need it`() throws {
        let log = try damagedLog()
        let queries = try [
            log.query({ .message(seq: 1, $0) }), log.query({ .message(seq: 2, $0) }),
            log.query({ .message(seq: 3, $0) }),
            log.query({ .page(PageRequest(), $0) }), log.query({ .state($0) }),
            log.query({ .page(PageRequest(), $0) }, of: "attic"),
            log.query({ .page(PageRequest(anchor: .after(.seq(2))), $0) }),
            log.query({ .changes(since: 0, limit: 10, $0) }), log.query({ .changes(since: 0, limit: 1, $0) }),
        ]
        for (index, problem) in try log.problems(of: queries).enumerated() {
            guard [1, 3, 7].contains(index) else {
                #expect(problem == nil)
                continue
            }
            #expect(problem?.status == 503 && problem?.code == .unavailable)
            #expect(problem?.detail.hasPrefix("The history could not be read: ") == true)
        }
    }

    @Test func `does not affect other sends`() throws {
        let log = try damagedLog()
        #expect(try log.send(.init(text: "more")).seq == 4)
        #expect(log.log.failure == nil)
    }
}
