import GRDB

/// Looks whether a database is sound: its pages and tables, and that what is in them agrees.
///
/// It reads one snapshot, row by row and each table once, in the order of its keys: in memory is what belongs to one
/// message, and the end of each room that the journal has something of. A server may have the database open; its
/// write-ahead log grows by what is sent while the check lasts, some seconds per million messages.
public struct DatabaseCheck: Sendable {
    /// What is being looked at.
    public enum Part: String, Sendable {
        /// The file, by SQLite itself.
        case file
        /// Rooms, and their messages.
        case messages
        /// What is not in its place yet.
        case journal
        /// Who is a member, and who has read what.
        case people
    }

    private let source: VisitedDatabase
    private let mostFindings: Int

    /// The number of findings that are kept unless said otherwise.
    public static let defaultFindings = 20

    /// A check of the database at `path`, of whose damages the first `mostFindings` are kept.
    ///
    /// - Throws: ``StoreError`` when there is no file that could be read.
    public init(_ path: String, mostFindings: Int = Self.defaultFindings) throws(StoreError) {
        source = try VisitedDatabase(path)
        self.mostFindings = mostFindings
    }

    /// Looks.
    ///
    /// - Parameter progress: called now and then: with the part that is being looked at, and how many messages have been.
    /// - Throws: ``StoreError`` when it is no database of Backscroll, or one of a newer version; not for damages.
    public func run(progress: @escaping (Part, Int64) -> Void = { _, _ in }) throws(StoreError) -> CheckReport {
        let findings = Findings(most: mostFindings)
        do {
            let connection = try source.connect("backscroll.check")
            defer { try? connection.close() }
            try connection.inDatabase { db in
                try db.inTransaction(.deferred) {
                    try check(db, findings, progress)
                    return .commit
                }
            }
        } catch let error as DatabaseError where error.isDamage {
            findings.add("it cannot be read: \(error.message ?? "it is damaged")")
        } catch {
            throw named(source.path, error)
        }
        return findings.report
    }

    private func check(_ db: Database, _ findings: Findings, _ progress: @escaping (Part, Int64) -> Void) throws {
        progress(.file, 0)
        let tables = FileCheck(findings)
        try part(findings, "the pages") {
            try tables.checkPages(db, most: mostFindings, Interrupter({ false }, progress: { progress(.file, $0) }))
        }
        let isCurrent = try tables.checkTables(db)
        guard isCurrent else {
            try part(findings, "the rooms") {
                let (rooms, messages) = try Schema.counts(db)
                findings.count(rooms: rooms, messages: messages)
            }
            return findings.note(
                "it is of an older version, and what is in the tables was not looked at: a server that opens it brings "
                    + "it up to date")
        }
        try part(findings, "the messages") { try MessageCheck(db, findings).run { progress(.messages, $0) } }
        progress(.journal, 0)
        var heads: [Int64: Int64] = [:]
        try part(findings, "the journal") { heads = try JournalCheck(db, findings).run() }
        progress(.people, 0)
        try part(findings, "who has read what") { try PeopleCheck(db, findings, heads).run() }
        try part(findings, "what is deleted") { try JobCheck(db, findings).run() }
    }

    /// Does a part of the check, which cannot go on where a page or a table is missing.
    private func part(_ findings: Findings, _ name: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.isDamage || error.resultCode == .SQLITE_ERROR {
            findings.add("\(name) cannot be looked at to the end: \(error.message ?? "the file is damaged")")
        }
    }
}

extension DatabaseError {
    /// True if it is the file that is to blame.
    fileprivate var isDamage: Bool { resultCode == .SQLITE_CORRUPT }
}
