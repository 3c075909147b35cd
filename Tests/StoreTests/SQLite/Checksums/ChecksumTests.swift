import CSQLite
import Chat
// Members of SQLite's structs belong to the module that Clang reads first.
import GRDBSQLite
import Glibc
import SQLiteChecksums
import TestSupport
import Testing

@testable import Store

@Suite("The checksums of pages", .partOfSQLite(.files), .timeLimit(.minutes(30)))
struct ChecksumTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "log.db")
    }

    /// Makes a closed database, in which all is filed and no log is left.
    private func fillDatabase(of messages: Int = 600) throws {
        let log = try TestLog(at: path, of: directory) { $0.journal.messages = 0 }
        try log.fill(messages)
        try log.sendAll((0..<20).map { .init(text: String(repeating: "\($0) ", count: 5000), room: "den") })
        log.close()
        #expect(access(path + "-wal", F_OK) != 0)
    }

    /// Makes a database as a version without checksums would.
    private func makeOldDatabase() throws {
        try makeDatabase(at: path, upTo: try #require(Schema.migrations.last).name)
    }

    private func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_END)))
        #expect(pread(file, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    private func write(_ bytes: [UInt8], at offset: Int = 0) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(pwrite(file, bytes, bytes.count, offset) == bytes.count)
    }

    private static let pageSize = StoreConfiguration.pageSize

    private func states(of path: String) throws -> Set<page_state.RawValue> {
        let bytes = try bytes(of: path)
        let size = try #require(FileHeader(bytes)).pageSize
        return Set(
            stride(from: 0, to: bytes.count, by: size).map { offset in
                backscroll_page_state(Array(bytes[offset..<offset + size]), Int32(size)).rawValue
            })
    }

    /// Returns the pages of all messages, or nothing if the server answers with an error or does not start.
    private func contents() -> [String]? {
        do {
            let log = try TestLog(at: path, of: directory)
            defer { log.close() }
            var texts: [String] = []
            for room in ["lobby", "den"] {
                var seq: Int64 = 0
                while true {
                    let slice = try log.page(.after(.seq(seq)), limit: 200, of: room, for: "alice")
                    if slice.count == 0 { break }
                    texts.append(String(decoding: slice.messages, as: UTF8.self))
                    seq = slice.lastSeq
                }
            }
            return texts
        } catch {
            return nil
        }
    }

    @Test func `stand in each page of a new database and of its backup`() throws {
        try fillDatabase()
        let copy = directory.path(of: "copy.db")
        _ = try Backup(of: path, to: copy).run()
        #expect(try states(of: path) == [PAGE_RIGHT.rawValue] && states(of: copy) == [PAGE_RIGHT.rawValue])
        #expect(
            try DatabaseCheck(copy).run().isSound
                && run("sqlite3", "-readonly", path, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `make a bit that has changed an error, in whichever page`() throws {
        try fillDatabase()
        let sound = try bytes(of: path)
        let expected = try #require(contents())
        #expect(try bytes(of: path).count == sound.count)
        var random = SystemRandomNumberGenerator()
        var refused = 0
        for page in 0..<sound.count / Self.pageSize {
            let offset = page * Self.pageSize + Int.random(in: 0..<Self.pageSize, using: &random)
            write(sound)
            write([sound[offset] ^ 1 << UInt8.random(in: 0..<8, using: &random)], at: offset)
            let report = try? DatabaseCheck(path).run()
            // A changed byte may make the file look like another program's.
            if let report {
                #expect(
                    report.damages.contains { $0.text == "page \(page + 1) does not fit its checksum" },
                    "the byte \(offset) has changed: \(report)")
            }
            if let found = contents() {
                #expect(found == expected, "the byte \(offset) has changed")
            } else {
                refused += 1
            }
        }
        // Those that are not read, such as pages of indexes.
        #expect(refused > sound.count / Self.pageSize / 2)
    }

    @Test(arguments: 0..<8)
    func `are not turned off by a bit of the header`(bit: Int) throws {
        try fillDatabase(of: 10)
        write([8 ^ 1 << UInt8(bit)], at: 20)
        #expect(contents() == nil)
    }

    @Test func `make a page an error that another program has written, until they are added`() throws {
        try fillDatabase()
        let expected = contents()
        write([UInt8](repeating: 0, count: 8), at: 5 * Self.pageSize - 8)
        let report = try DatabaseCheck(path).run()
        #expect(report.damages.map(\.text).contains("page 5 has no checksum: another program wrote it"))
        #expect(try ChecksumUpgrade(DatabaseLocation(path)).run() == 1)
        #expect(try DatabaseCheck(path).run().isSound && contents() == expected)
    }

    @Test func `are not added to a page that does not fit the one that it has`() throws {
        try fillDatabase()
        write([UInt8](repeating: 0, count: 8), at: 5 * Self.pageSize - 8)
        let offset = 5 * Self.pageSize + 100
        write([try bytes(of: path)[offset] ^ 1], at: offset)
        #expect(try ChecksumUpgrade(DatabaseLocation(path)).run() == 1)
        #expect(try DatabaseCheck(path).run().damages.map(\.text).contains("page 6 does not fit its checksum"))
    }

    /// SQLite reads overflow pages in part in some versions.
    @Test(arguments: [1, 512, 4096, Self.pageSize - 8])
    func `are compared where a part of a page is read`(count: Int) throws {
        try fillDatabase()
        let sound = try bytes(of: path)
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
        #expect(sqlite3_exec(database, "SELECT count(*) FROM rooms", nil, nil, nil) == SQLITE_OK)
        var file: UnsafeMutablePointer<sqlite3_file>?
        #expect(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
        let read = try #require(file?.pointee.pMethods.pointee.xRead)
        let offset = 7 * Self.pageSize
        var part = [UInt8](repeating: 0, count: count)
        #expect(read(file, &part, Int32(count), Int64(offset)) == SQLITE_OK)
        #expect(part == Array(sound[offset..<offset + count]))
        let changed = offset + Self.pageSize - 20
        write([sound[changed] ^ 1], at: changed)
        // SQLITE_IOERR_DATA, a macro that Swift does not have.
        #expect(read(file, &part, Int32(count), Int64(offset)) == SQLITE_IOERR | 32 << 8)
    }

    @Test func `make a page an error that was lost and reads as zeros`() throws {
        try fillDatabase()
        write([UInt8](repeating: 0, count: Self.pageSize), at: 4 * Self.pageSize)
        #expect(try !DatabaseCheck(path).run().isSound)
    }

    @Test func `tell a page of zeros that was written from a lost one`() {
        var page = [UInt8](repeating: 0, count: 512)
        #expect(backscroll_page_state(page, 512) == PAGE_WITHOUT_CHECKSUM)
        backscroll_seal_page(&page, 512)
        #expect(backscroll_page_state(page, 512) == PAGE_RIGHT)
    }

    @Test func `are added to a database of an older version, which keeps its history`() throws {
        try makeOldDatabase()
        let expected = try {
            let log = try TestLog(at: path, of: directory)
            defer { log.close() }
            try log.fill(3000)
            return log.log.epoch
        }()
        let before = try #require(contents())
        #expect(try states(of: path) != [PAGE_RIGHT.rawValue])
        #expect(try DatabaseCheck(path).run().notes.map(\.text).contains { $0.contains("--add-checksums") })
        chmod(path, 0o640)
        #expect(try ChecksumUpgrade(DatabaseLocation(path)).run() > 0)
        #expect(try states(of: path) == [PAGE_RIGHT.rawValue])
        #expect(try contents() == before && DatabaseCheck(path).run().isSound)
        let log = try TestLog(at: path, of: directory)
        #expect(log.log.epoch == expected)
        log.close()
        #expect(try ChecksumUpgrade(DatabaseLocation(path)).run() == 0)
        #expect(try !run("ls", "-A", directory.path).contains("checksums"))
    }

    @Test func `are not added while a server has the database open`() throws {
        let log = try TestLog(at: path, of: directory)
        let error = #expect(throws: StoreError.self) { try ChecksumUpgrade(DatabaseLocation(path)).run() }
        #expect(error?.description == "\(path) is in use by another server")
        log.close()
    }

    @Test func `leave nothing behind if adding them is cancelled`() throws {
        try makeOldDatabase()
        let log = try TestLog(at: path, of: directory)
        try log.fill(3000)
        log.close()
        let error = #expect(throws: StoreError.self) {
            try ChecksumUpgrade(DatabaseLocation(path)).run(isCancelled: { true })
        }
        #expect(error?.description == StoreError.cancelled(path).description)
        #expect(try !run("ls", "-A", directory.path).contains("checksums"))
        #expect(contents()?.count == 3000 / 200)
    }

    @Test func `are reported missing when a server opens the database`() throws {
        try makeOldDatabase()
        let remedies = Recorder<String>()
        let log = try TestLog(at: path, of: directory) { $0.onMissingChecksums = { remedies.record($0) } }
        log.close()
        #expect(remedies.events == ["backscroll check --add-checksums adds them, while no server runs"])
    }
}
