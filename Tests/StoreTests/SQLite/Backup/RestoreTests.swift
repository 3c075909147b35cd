import Chat
import GRDB
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite("A restored backup", .partOfSQLite(.backup))
struct RestoreTests {
    private let directory: TemporaryDirectory
    private let copy: String

    init() throws {
        directory = try TemporaryDirectory()
        copy = directory.path(of: "copy.db")
    }

    /// Restores the copy under this name.
    private func restored(as name: String) throws -> TestLog {
        try run("cp", copy, directory.path(of: name))
        return try TestLog(at: directory.path(of: name), of: directory)
    }

    @Test func `gets a new epoch at its first start, and keeps it`() throws {
        let log = try TestLog(in: directory)
        let bodies = try log.fill(2)
        _ = try Backup(of: log.path, to: copy).run()
        try log.fill(2)
        let first = try restored(as: "first.db")
        let second = try restored(as: "second.db")
        #expect(Set([log.log.epoch, first.log.epoch, second.log.epoch]).count == 3)
        #expect(first.log.epoch.count == 20)
        #expect(try first.page().messages == joined(bodies))
        #expect(try first.reopened().log.epoch == first.log.epoch)
        #expect(try log.reopened().log.epoch == log.log.epoch)
    }

    @Test func `reports its new epoch once, at its first start`() throws {
        let log = try TestLog(in: directory)
        _ = try Backup(of: log.path, to: copy).run()
        let reported = Mutex<[String]>([])
        let again = try TestLog(at: copy, of: directory) {
            $0.onNewEpoch = { epoch in reported.withLock { $0.append(epoch) } }
        }
        #expect(reported.withLock { $0 } == [again.log.epoch])
        let last = try again.reopened { $0.onNewEpoch = { _ in Issue.record("the epoch is not new") } }
        #expect(last.log.epoch == again.log.epoch)
    }

    @Test func `recognizes messages sent before the backup`() throws {
        let log = try TestLog(in: directory)
        try log.sendAll([.init(text: "kept", id: "a"), .init(text: "deleted", id: "b")])
        try log.delete(2)
        _ = try Backup(of: log.path, to: copy).run()
        let again = try restored(as: "first.db")
        #expect(try again.send(.init(text: "kept", id: "a")).seq == 1)
        #expect(try again.send(.init(text: "deleted", id: "b")).seq == 2)
        #expect(try again.send(.init(text: "new", id: "c")).seq == 3)
    }

    @Test func `is not opened with the old write-ahead log, which would corrupt it`() throws {
        let log = try TestLog(in: directory)
        try log.fill(2)
        _ = try Backup(of: log.path, to: copy).run()
        try log.fill(50)
        let path = directory.path(of: "place.db")
        try run("cp", log.path + "-wal", path + "-wal")
        try run("cp", copy, path)
        let error = #expect(throws: StoreError.self) { try SQLiteLog(path: path, observer: Listener()) }
        #expect(error?.description == "\(path) cannot be opened: \(path)-wal belongs to another database; remove it")
        #expect(unlink(path + "-wal") == 0)
        #expect(try TestLog(at: path, of: directory).state().head == 2)
    }

    @Test func `is refused by versions that do not know backups`() throws {
        let log = try TestLog(in: directory)
        _ = try Backup(of: log.path, to: copy).run()
        let keys = try DatabaseQueue(path: copy).read {
            try String.fetchAll($0, sql: "SELECT key FROM meta ORDER BY key")
        }
        // The index for searches is begun in the background.
        #expect(keys.filter { $0 != "search_version" } == ["backup_of", "fingerprint_secret"])
    }
}
