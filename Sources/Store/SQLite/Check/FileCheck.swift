import CSQLite
import Glibc
import SQLiteChecksums

/// Checks the file with SQLite's own checks, and the definitions of its tables.
struct FileCheck {
    let findings: Findings

    /// Compares every page with its checksum.
    ///
    /// A server may write the file meanwhile, so a page is read again before it counts as damaged.
    func checkChecksums(_ db: SQLiteConnection, _ progress: (Int64) -> Void) throws {
        guard let header = db.header(), header.reservedBytes == CHECKSUM_BYTES else {
            return findings.note(
                "its pages have no checksums, so a change of the disk's bits is not found in all cases; "
                    + "backscroll check --add-checksums adds them, while no server runs")
        }
        let pageSize = header.pageSize
        var logged: Set<UInt32>?
        var page = [UInt8](repeating: 0, count: pageSize)
        var number: UInt32 = 1
        while true {
            var status = SQLITE_OK
            for _ in 0..<Self.reads {
                status = db.read(&page, at: Int64(number - 1) * Int64(pageSize))
                if status == SQLITE_OK { break }
            }
            // The end of the file.
            if status & 0xFF == SQLITE_IOERR, status >> 8 == 2 { return }
            if status != SQLITE_OK {
                if logged == nil { logged = Self.pagesInLog(of: db, pageSize: pageSize) }
                if logged?.contains(number) == false {
                    let lacks = backscroll_page_state(page, Int32(pageSize)) == PAGE_WITHOUT_CHECKSUM
                    findings.add(
                        "page \(number) "
                            + (lacks ? "has no checksum: another program wrote it" : "does not fit its checksum"))
                }
            }
            if number % 10_000 == 0 { progress(Int64(number)) }
            number += 1
        }
    }

    /// Returns the numbers of the pages in the write-ahead log. After a power cut the file may have a torn page where the log
    /// has the whole one, which is then the one that counts.
    private static func pagesInLog(of db: SQLiteConnection, pageSize: Int) -> Set<UInt32> {
        // These strings are SQLite's own; they are valid while the connection is open.
        guard let name = sqlite3_filename_wal(sqlite3_db_filename(db.handle, "main")) else { return [] }
        // Closing this descriptor releases no locks: SQLite's locks are on the -shm file.
        let file = open(name, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        // The log's header, and that of a frame (SQLite file format, sections 4.1 and 4.2). A frame counts if it has the salts
        // of the log.
        var header = [UInt8](repeating: 0, count: 32)
        guard pread(file, &header, header.count, 0) == header.count else { return [] }
        var pages: Set<UInt32> = []
        var offset = header.count
        var frame = [UInt8](repeating: 0, count: 24)
        while pread(file, &frame, frame.count, offset) == frame.count {
            if frame[8..<16] == header[16..<24] {
                pages.insert(frame[..<4].reduce(0) { $0 << 8 | UInt32($1) })
            }
            offset += frame.count + pageSize
        }
        return pages
    }

    /// Number of times that a page is read before it counts as damaged.
    private static let reads = 3

    /// Has SQLite check every page, and every index against its table.
    func checkPages(_ db: SQLiteConnection, most: Int, _ interrupter: Interrupter) throws {
        let faults = try interrupter.watch(db, total: 0) {
            try db.all("PRAGMA integrity_check(\(max(1, most)))") { $0.text(0) }
        }
        // A fault may have several lines; the first only names the database.
        for fault in faults where fault != "ok" {
            for line in fault.split(separator: "\n") where !line.hasPrefix("*** in database") {
                findings.add(String(line))
            }
        }
    }

    /// Compares the tables and indexes with those of a new database of the same version.
    ///
    /// - Returns: true if the database has the current version.
    func checkTables(_ db: SQLiteConnection) throws -> Bool {
        let applied = try Schema.applied(db)
        let expected = try SQLiteDatabase(path: nil).use { pattern in
            if let last = applied.last { try Schema.migrate(pattern, upTo: last) }
            return try definitions(pattern)
        }
        let present = try definitions(db)
        for (name, definition) in expected.sorted(by: { $0.key < $1.key }) {
            if present[name] == nil {
                findings.add("the \(name) is missing")
            } else if present[name] != definition {
                findings.add("the \(name) differs from the schema")
            }
        }
        for name in present.keys.sorted() where expected[name] == nil {
            findings.note("the \(name) is not part of the schema")
        }
        let hasOwner = try ["epoch", "backup_of"].contains { key in
            try db.has("SELECT 1 FROM meta WHERE key = $1", key)
        }
        if !hasOwner { findings.add("the epoch is missing") }
        let hasSecret = try db.has("SELECT 1 FROM meta WHERE key = 'fingerprint_secret'")
        if !hasSecret, applied.contains(Schema.changes) {
            findings.add("the secret for fingerprints is missing; the server cannot store messages without it")
        }
        return applied == Schema.migrations.map(\.name)
    }

    /// Returns the statements that create the tables and indexes, without comments and spaces.
    private func definitions(_ db: SQLiteConnection) throws -> [String: String] {
        let rows = try db.all("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        {
            ("\($0.text(0)) \($0.text(1))", Self.words($0.text(2)))
        }
        return Dictionary(rows, uniquingKeysWith: +)
    }

    private static func words(_ sql: String) -> String {
        sql.split(separator: "\n").map { line in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
            .flatMap { $0.split(whereSeparator: \.isWhitespace) }.joined(separator: " ")
    }
}
