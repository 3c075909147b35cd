import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A database whose files are removed", .partOfSQLite(.files))
struct StorageWatchTests {
    private func makeLog(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        let log = try TestLog {
            $0.storageCheckInterval = 0
            configure(&$0)
        }
        try log.fill(3)
        return log
    }

    private func expectRefusals(by log: TestLog) {
        #expect(throws: Problem.storageLost) { try log.send(.init()) }
        #expect(throws: Problem.storageLost) { try log.delete(1) }
        #expect(throws: Problem.storageLost) { try log.page() }
        #expect(throws: Problem.storageLost) { try log.inbox(of: "alice") }
        #expect(log.log.storageLoss == .storageLost)
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func `refuses writes and reads, and names the missing file`(suffix: String) throws {
        let health = Recorder<String?>()
        let log = try makeLog { $0.onHealthChange = { health.record($0) } }
        #expect(log.log.storageLoss == nil)
        #expect(unlink(log.path + suffix) == 0)
        expectRefusals(by: log)
        #expect(log.log.failure?.hasSuffix("log.db\(suffix) has been deleted or renamed") == true)
        // Reported once.
        #expect(health.events.count == 1)
    }

    @Test func `is noticed while nothing is sent`() throws {
        let log = try makeLog { $0.storageCheckInterval = 1 }
        #expect(unlink(log.path) == 0)
        try waitUntil { log.log.storageLoss != nil }
        expectRefusals(by: log)
    }

    @Test(arguments: ["", "-wal"])
    func `is not confused with another file`(suffix: String) throws {
        let log = try makeLog()
        try run("cp", log.path + suffix, log.path + ".copy")
        #expect(rename(log.path + ".copy", log.path + suffix) == 0)
        expectRefusals(by: log)
        #expect(log.log.failure?.contains("has been replaced by another file") == true)
        log.close()
        // The log must not delete another file with the same name.
        #expect(access(log.path + suffix, F_OK) == 0)
    }

    @Test func `continues when they are back`() throws {
        let health = Recorder<String?>()
        let log = try makeLog { $0.onHealthChange = { health.record($0) } }
        #expect(rename(log.path, log.path + ".away") == 0)
        expectRefusals(by: log)
        #expect(rename(log.path + ".away", log.path) == 0)
        #expect(try log.send(.init()).seq == 4)
        #expect(try log.page().lastSeq == 4)
        #expect(log.log.failure == nil && log.log.storageLoss == nil)
        #expect(health.events.count == 2 && health.events[1] == nil)
    }

    @Test func `saves the contents of a deleted write-ahead log on closing`() throws {
        let log = try makeLog()
        #expect(unlink(log.path + "-wal") == 0)
        expectRefusals(by: log)
        let again = try log.reopened()
        #expect(try again.state().head == 3)
        #expect(try DatabaseCheck(again.path).run().isSound)
    }

    @Test func `is told apart from one with a second hard link, which stays usable`() throws {
        let log = try makeLog()
        #expect(link(log.path, log.path + ".link") == 0)
        #expect(try log.send(.init()).seq == 4)
    }

    @Test func `cannot be checked beside another database's write-ahead log`() throws {
        let log = try makeLog()
        let backup = log.path + ".backup"
        _ = try Backup(of: log.path, to: backup).run()
        #expect(try DatabaseCheck(backup).run().isSound)
        try run("cp", log.path + "-wal", backup + "-wal")
        let reason = "\(backup) cannot be opened: \(backup)-wal belongs to another database; remove it"
        let refusal = #expect(throws: StoreError.self) { try DatabaseCheck(backup).run() }
        #expect(refusal?.description == reason)
        let start = #expect(throws: StoreError.self) { try SQLiteLog(path: backup, observer: Listener()) }
        #expect(start?.description == reason)
        // A database with its own log can be checked.
        #expect(try DatabaseCheck(log.path).run().isSound)
    }
}
