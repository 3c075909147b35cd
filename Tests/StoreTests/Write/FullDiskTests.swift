import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A full disk", .partOfSQLite(.files))
struct FullDiskTests {
    private let large = String(repeating: "x", count: 8192)

    /// Sends until there is no space for another message.
    ///
    /// - Returns: The number of stored messages, and the problem of the first refused one.
    private func fillUp(_ log: TestLog) throws -> (stored: Int64, problem: Problem) {
        var stored: Int64 = 0
        while true {
            switch try log.sendAll([.init(text: large, id: "id\(stored)")])[0] {
            case .success(let message):
                stored += 1
                #expect(message.seq == stored)
            case .failure(let problem):
                return (stored, problem)
            }
        }
    }

    @Test func `refuses messages in a database of maximum size, and accepts them when there is space`() throws {
        let log = try TestLog {
            $0.journal.messages = 0
            $0.maximumPages = 400
            $0.probeInterval = 1
        }
        let (stored, problem) = try fillUp(log)
        #expect(stored > 100)
        #expect(problem == .storageFull && problem.retryAfter == 5)
        #expect(log.log.failure?.contains("full") == true)
        #expect(try log.state() == RoomState(head: stored, rev: stored))

        // Makes room for a probe, and so for sends.
        try log.sql { db in try db.execute(sql: "DELETE FROM messages WHERE id & 0xFFFFFFFFF < 90") }
        try waitUntil { log.log.failure == nil }
        #expect(try log.send(.init(text: large, id: "id\(stored)")).seq == stored + 1)
    }

    @Test(.enabled(if: SmallDisk.isAvailable))
    func `loses nothing but the refused sends`() throws {
        let disk = try SmallDisk(kibibytes: 2048)
        let log = try TestLog(at: disk.path(of: "log.db"), of: disk) { $0.probeInterval = 1 }
        let (stored, problem) = try fillUp(log)
        #expect(stored > 20)
        #expect(problem == .storageFull)
        #expect(log.log.failure != nil)
        #expect(try log.page(.newest, limit: 1).state.head == stored)

        try disk.grow(kibibytes: 4096)
        try waitUntil { log.log.failure == nil }
        #expect(try log.send(.init(text: large, id: "id\(stored)")).seq == stored + 1)
        #expect(try log.send(.init(text: large, id: "id0")).seq == 1)
        log.close()
        let integrity = try log.sql { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(integrity == "ok")
    }

    @Test(.enabled(if: SmallDisk.isAvailable))
    func `is reported at the start`() throws {
        let disk = try SmallDisk(kibibytes: 64)
        try disk.fill()
        let path = disk.path(of: "log.db")
        let error = #expect(throws: StoreError.self) { try SQLiteLog(path: path, observer: Listener()) }
        #expect(error?.description == "\(path) cannot be opened: the disk is full")
    }
}
