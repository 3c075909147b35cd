import Chat
import GRDB
import Glibc
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A backup", .partOfSQLite(.backup))
struct BackupTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var copy: String { directory.path(of: "copy.db") }

    private func files() throws -> [String] {
        try run("ls", "-A", directory.path).split(separator: "\n").map(String.init)
    }

    @Test func `of an open database shows one moment, including messages in the journal`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.fill(3)
        try log.edit(2, "changed")
        let lobby = try log.fill(2)
        let attic = try log.fill(2, "attic")
        let contents = try Backup(of: log.path, to: copy).run()
        #expect(contents.rooms == 2 && contents.messages == 7)
        #expect(try contents.bytes == Int64(run("stat", "-c", "%s", copy).dropLast())!)
        let before = try log.page().messages
        try log.fill(2)
        #expect(try files() == ["copy.db"])
        try expectSound(copy)
        let again = try TestLog(at: copy, of: directory)
        #expect(try again.page().messages == before)
        #expect(try again.page(.after(.seq(3))).messages == joined(lobby))
        #expect(try again.page(of: "attic").messages == joined(attic))
        #expect(try again.fill(1).count == 1)
        #expect(try again.state() == RoomState(head: 6, rev: 7))
    }

    @Test func `of a closed database leaves no files beside it`() throws {
        let log = try TestLog(in: directory)
        try log.fill(5)
        log.close()
        let before = try run("cksum", log.path)
        let contents = try Backup(of: log.path, to: copy).run()
        #expect(contents.rooms == 1 && contents.messages == 5)
        #expect(try run("cksum", log.path) == before)
        #expect(try files() == ["copy.db", "log.db", "log.db.last-backup", "log.db.lock"])
        try expectSound(copy)
    }

    @Test func `is remembered beside the database, once it is complete`() throws {
        let log = try TestLog(in: directory)
        try log.fill(1)
        #expect(log.log.sizes.lastBackup == nil)
        let stopped = try Backup(of: log.path, to: copy)
        #expect(throws: StoreError.self) { try stopped.run(isCancelled: { true }) }
        #expect(log.log.sizes.lastBackup == nil)
        let before = Timestamp.now()
        _ = try Backup(of: log.path, to: copy).run()
        let first = try #require(log.log.sizes.lastBackup)
        // The file system's clock may be a tick behind.
        #expect(first > Double(before.milliseconds) / 1000 - 1)
        // Another user's file, which cannot be changed, is replaced.
        #expect(chmod(log.path + ".last-backup", 0) == 0)
        _ = try Backup(of: log.path, to: copy, replacing: true).run()
        #expect(try #require(log.log.sizes.lastBackup) >= first)
        log.close()
    }

    @Test func `of a crashed server's database has all acknowledged messages, and leaves recovery to the next server`()
        throws
    {
        let log = try TestLog()
        let bodies = try log.fill(5)
        for suffix in ["", "-wal"] { try run("cp", log.path + suffix, directory.path(of: "dead.db" + suffix)) }
        let dead = directory.path(of: "dead.db")
        let before = try run("cksum", dead, dead + "-wal")
        #expect(try Backup(of: dead, to: copy).run().messages == 5)
        #expect(try run("cksum", dead, dead + "-wal") == before)
        #expect(try TestLog(at: copy, of: directory).page().messages == joined(bodies))
    }

    @Test func `of an empty database is empty`() throws {
        let log = try TestLog()
        let contents = try Backup(of: log.path, to: copy).run()
        #expect(contents.rooms == 0 && contents.messages == 0)
        #expect(try TestLog(at: copy, of: directory).send(.init()).seq == 1)
    }

    @Test func `of a backup is a backup`() throws {
        let log = try TestLog()
        try log.fill(3)
        _ = try Backup(of: log.path, to: copy).run()
        let other = directory.path(of: "other.db")
        #expect(try Backup(of: copy, to: other).run().messages == 3)
        try expectSound(other)
        #expect(try TestLog(at: other, of: directory).log.epoch != log.log.epoch)
    }

    @Test func `of an older version's database keeps that version`() throws {
        let path = directory.path(of: "old.db")
        try makeDatabase(at: path, upTo: "v3")
        _ = try Backup(of: path, to: copy).run()
        let versions = try DatabaseQueue(path: copy).read {
            try String.fetchAll($0, sql: "SELECT * FROM grdb_migrations")
        }
        #expect(versions == ["v1", "v2", "v3"])
        let report = try DatabaseCheck(copy).run()
        #expect(report.isSound && report.notes.count == 1)
        #expect(try TestLog(at: copy, of: directory).send(.init()).seq == 1)
    }

    @Test func `contains nothing that was deleted, even if the journal still does`() throws {
        let log = try TestLog { $0.journal.idleTime = 60_000 }
        try log.sendAll((0..<20).map { .init(text: "whisper \($0)" + String(repeating: "x", count: $0 * 500)) })
        try log.fill(1, "attic")
        for seq in 1...20 as ClosedRange<Int64> { try log.delete(seq) }
        #expect(throws: Never.self) { try run("grep", "-qa", "whisper", log.path + "-wal") }
        _ = try Backup(of: log.path, to: copy).run()
        #expect(throws: CommandFailed.self) { try run("grep", "-qa", "whisper", copy) }
        try expectSound(copy)
    }

    @Test func `is readable by its owner only`() throws {
        let log = try TestLog()
        _ = try Backup(of: log.path, to: copy).run()
        #expect(try run("stat", "-c", "%a", copy) == "600\n")
    }

    @Test func `can be made while messages are sent, and shows a moment between two of them`() throws {
        let log = try TestLog { $0.checkpointPages = 20 }
        try log.fill(500)
        let isDone = Mutex(false)
        inParallel(2) { thread in
            if thread == 0 {
                defer { isDone.withLock { $0 = true } }
                for number in 0..<5 {
                    let path = directory.path(of: "\(number).db")
                    let before = try log.state().head
                    let contents = try Backup(of: log.path, to: path).run()
                    #expect(contents.messages >= before)
                    try expectSound(path)
                    let again = try TestLog(at: path, of: directory)
                    let end = try again.page(.newest, limit: 200)
                    #expect(end.state.head == contents.messages)
                    #expect(try log.page(.before(.seq(contents.messages + 1)), limit: 200).messages == end.messages)
                }
            } else {
                while !isDone.withLock({ $0 }) { try log.fill(10) }
            }
        }
    }

    @Test(arguments: [0, 1, 5])
    func `that is cancelled leaves no file`(after looks: Int) throws {
        let log = try TestLog()
        for _ in 0..<40 { try log.fill(1000) }
        let count = Mutex(0)
        let error = #expect(throws: StoreError.self) {
            try Backup(of: log.path, to: copy).run(isCancelled: {
                count.withLock {
                    $0 += 1
                    return $0 > looks
                }
            })
        }
        #expect(error?.description == "the backup \(copy) was cancelled")
        #expect(try files() == [])
        #expect(try log.send(.init()).seq == 40_001)
    }

    @Test func `reports its progress`() throws {
        let log = try TestLog()
        for _ in 0..<20 { try log.fill(1000) }
        let reports = Recorder<Backup.Progress>()
        _ = try Backup(of: log.path, to: copy).run(progress: { reports.record($0) })
        let first = try #require(reports.events.first)
        #expect(first.total > 1_000_000 && reports.events.allSatisfy { $0.total == first.total })
    }

    @Test(.enabled(if: SmallDisk.isAvailable))
    func `without enough space leaves no file`() throws {
        let log = try TestLog()
        for _ in 0..<10 { try log.fill(1000) }
        let disk = try SmallDisk(kibibytes: 1024)
        let path = disk.path(of: "copy.db")
        let error = #expect(throws: StoreError.self) { try Backup(of: log.path, to: path).run() }
        #expect(error?.description == "the backup \(path) cannot be written: the disk is full")
        #expect(try run("ls", "-A", disk.path(of: "")) == "")
    }
}
