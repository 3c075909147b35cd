import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The reserved length of the write-ahead log", .partOfSQLite(.files))
struct LogReserveTests {
    private static let reserve = 2 * 1024 * 1024

    private func size(_ log: TestLog) -> Int {
        var status = stat()
        return stat(log.path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    @Test func `is by default the length at which the log restarts, and the first message does not extend it`() throws {
        let bytes = StoreConfiguration().reservedLog
        #expect(bytes >= StoreConfiguration().checkpointPages * (StoreConfiguration.pageSize + 24))
        let log = try TestLog { $0.reservedLog = bytes }
        #expect(size(log) == bytes)
        try log.fill(10)
        #expect(size(log) == bytes)
    }

    @Test func `stays when the log restarts`() throws {
        let log = try TestLog {
            $0.reservedLog = Self.reserve
            $0.checkpointPages = 50
        }
        for _ in 0..<200 { try log.fill(1) }
        #expect(size(log) == Self.reserve)
        #expect(try log.state().head == 200)
    }

    @Test func `is not mistaken for messages after a crash`() throws {
        let log = try TestLog {
            $0.reservedLog = Self.reserve
            $0.checkpointPages = 30
        }
        var bodies: [[UInt8]] = []
        for round in 0..<7 {
            bodies += try log.fill(1 + round * 7)
            let directory = try TemporaryDirectory()
            for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "log.db" + suffix)) }
            let again = try TestLog(in: directory) { $0.reservedLog = Self.reserve }
            #expect(try again.page(.newest, limit: 200).messages == joined(bodies))
            #expect(try again.send(.init()).seq == Int64(bodies.count + 1))
            #expect(try again.sql { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        }
    }

    @Test func `is removed when the log is closed`() throws {
        let log = try TestLog { $0.reservedLog = Self.reserve }
        try log.fill(3)
        log.close()
        #expect(access(log.path + "-wal", F_OK) != 0)
        let again = try log.reopened { $0.reservedLog = Self.reserve }
        #expect(size(again) == Self.reserve)
        #expect(try again.state().head == 3)
    }

    @Test func `is at most the existing length and half of the free space`() {
        #expect(LogReserve.length(wanted: 1000, present: 0, free: 5000) == 1000)
        #expect(LogReserve.length(wanted: 1000, present: 0, free: 900) == 450)
        #expect(LogReserve.length(wanted: 1000, present: 300, free: 900) == 750)
        #expect(LogReserve.length(wanted: 1000, present: 300, free: 0) == 300)
    }

    @Test(.enabled(if: SmallDisk.isAvailable))
    func `leaves half of a small disk free for messages`() throws {
        let disk = try SmallDisk(kibibytes: 8192)
        let log = try TestLog(at: disk.path(of: "log.db"), of: disk) {
            $0.reservedLog = StoreConfiguration().reservedLog
        }
        // The tables of a new database are in the log, too.
        #expect(size(log) > 3 * 1024 * 1024 && size(log) < 6 * 1024 * 1024)
        #expect(try log.fill(10).count == 10)
    }
}
