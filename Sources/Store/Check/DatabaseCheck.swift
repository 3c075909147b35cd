/// Checks a database: the pages of an SQLite file, the definitions of the tables, and that their rows agree.
///
/// The check reads one snapshot. It reads each table once, row by row in the order of its keys. In memory it keeps one
/// message at a time, and the state of each room that has unfiled messages. A server may have the database open;
/// its write-ahead log grows by what is written during the check.
public struct DatabaseCheck: Sendable {
    /// A part of the check.
    public enum Part: String, Sendable {
        /// The file, checked by SQLite itself. Not with PostgreSQL.
        case file
        /// The rooms and their messages.
        case messages
        /// The messages that are not filed yet. None with PostgreSQL.
        case journal
        /// The members and read marks.
        case people
    }

    private let source: Source
    let mostFindings: Int

    private enum Source {
        case file(SourceDatabase)
        case postgres(String)
    }

    /// Default of the number of damages that are kept.
    public static let defaultFindings = 20

    /// Prepares a check of a database. Keeps the first `mostFindings` damages.
    ///
    /// - Throws: ``StoreError`` if there is no readable file.
    public init(_ database: DatabaseLocation, mostFindings: Int = Self.defaultFindings) throws(StoreError) {
        source =
            switch database {
            case .file(let path): .file(try SourceDatabase(path))
            case .postgres(let url): .postgres(url)
            }
        self.mostFindings = mostFindings
    }

    /// Runs the check.
    ///
    /// - Parameter progress: called from time to time with the part being checked and the number of messages checked so
    ///   far.
    /// - Throws: ``StoreError`` if it is not a database of Backscroll, or one of a newer version, or if PostgreSQL
    ///   cannot be reached. Damages are reported, not thrown.
    public func run(progress: @escaping (Part, Int64) -> Void = { _, _ in }) throws(StoreError) -> CheckReport {
        let findings = Findings(most: mostFindings)
        switch source {
        case .file(let file): try run(file, findings, progress)
        case .postgres(let url): try run(url, findings, progress)
        }
        return findings.report
    }
}
