import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Read marks in PostgreSQL", .partOfPostgreSQL)
struct MarkStatementsTests {
    @Test func `move together, never back, and never beyond the head`() throws {
        let server = try TestPostgres.shared()
        let database = try server.createDatabase()
        let log = try TestLog(postgres: server.url(of: database))
        try log.fill(5)
        try log.fill(2, "other")
        _ = try log.change(.setMember(try UserID("bob"), nil), by: "alice").get()
        let results = try log.submitAll([
            log.submission(.read(seq: 3), by: "alice"), log.submission(.read(seq: 99), by: "bob"),
            log.submission(.read(seq: 1), in: "other", by: "alice"), log.submission(.read(seq: 2), by: "alice"),
        ])
        #expect(
            try results.map { try $0.get() } == [
                .readMark(seq: 3, hasMoved: true), .readMark(seq: 5, hasMoved: true), .readMark(seq: 1, hasMoved: true),
                .readMark(seq: 3, hasMoved: false),
            ])
        #expect(try log.read(to: 2, as: "bob") == .readMark(seq: 5, hasMoved: false))
        let engaged = try server.query("SELECT engaged FROM members WHERE \"user\" = 'bob'", in: database)
        #expect(engaged == [["1"]])
        #expect(try log.read(to: 4, in: "nowhere", as: "bob") == .readMark(seq: 0, hasMoved: false))
    }
}
