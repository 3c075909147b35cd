import Chat
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A restart")
struct RestartTests {
    @Test func `finds everything unchanged`() throws {
        var log = try TestLog()
        var bodies: [String: [[UInt8]]] = [:]
        for round in 0..<3 {
            for room in ["a", "b"] {
                #expect(try log.state(of: room).head == Int64(round * 4))
                bodies[room, default: []] += try log.fill(4, room)
            }
            log = try log.reopened()
        }
        for room in ["a", "b"] {
            #expect(try log.page(of: room).messages == joined(bodies[room]!))
            #expect(try log.changes(since: 0, of: room).messages == joined(bodies[room]!))
        }
    }

    @Test(arguments: [16_384, 8])
    func `after a crash finds every acknowledged message`(checkpointPages: Int) throws {
        let log = try TestLog { $0.checkpointPages = checkpointPages }
        var bodies: [[UInt8]] = []
        for round in 0..<6 {
            bodies += try log.fill(1 + round * 7)
            let again = try log.crashed()
            #expect(again.log.epoch == log.log.epoch)
            #expect(try again.page(.newest, limit: 200).messages == joined(bodies))
            #expect(try again.send(.init(room: "other\(round)")).seq == 1)
            try expectSound(again.path)
        }
    }

    @Test(.onSQLite(.files))
    func `after a crash ignores a partly written commit`() throws {
        let log = try TestLog()
        let bodies = try log.fill(3)
        let size = Int(try run("stat", "-c", "%s", log.path + "-wal").dropLast())!
        try log.fill(20)
        let directory = try TemporaryDirectory()
        try run("cp", log.path, directory.path(of: "log.db"))
        // Cuts the last byte of the second commit's frames.
        let whole = Int(try run("stat", "-c", "%s", log.path + "-wal").dropLast())!
        #expect(whole > size)
        try run("cp", log.path + "-wal", directory.path(of: "log.db-wal"))
        try run("truncate", "-s", "\(whole - 1)", directory.path(of: "log.db-wal"))
        let again = try TestLog(in: directory)
        #expect(try again.page().messages == joined(bodies))
        #expect(try again.send(.init()).seq == 4)
    }

    @Test(.onSQLite(.files))
    func `finds the log within its bound, whatever was written`() throws {
        let pages = 20
        let log = try TestLog { $0.checkpointPages = pages }
        for _ in 0..<60 { try log.fill(5) }
        let size = Int(try run("stat", "-c", "%s", log.path + "-wal").dropLast())!
        // One commit may exceed it.
        #expect(size < pages * 4120 * 2)
        #expect(try log.page(.newest, limit: 1).state.head == 300)
    }

    @Test func `from a copy of an open log shows that moment, with a new epoch if one is given`() throws {
        let log = try TestLog()
        let bodies = try log.fill(5)
        let directory = try copy(log)
        try log.fill(2)
        let again = try TestLog(in: directory)
        #expect(again.log.epoch == log.log.epoch)
        #expect(try again.page().messages == joined(bodies))
        try again.execute("UPDATE meta SET value = 'another' WHERE key = 'epoch'")
        #expect(try again.reopened().log.epoch == "another")
    }

    /// Copies the database by a tool of its own, which keeps the epoch.
    private func copy(_ log: TestLog) throws -> TemporaryDirectory {
        if TestStore.isPostgres { return try log.copied() }
        let directory = try TemporaryDirectory()
        try DatabaseQueue(path: log.path).vacuum(into: directory.path(of: "log.db"))
        return directory
    }
}
