import Testing

@testable import Store

/// Expects a check to find no damage in the database at `path`, or in that which stands for it in PostgreSQL.
func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let database: DatabaseLocation = TestStore.isPostgres ? .postgres(try TestStore.url(of: path)) : .file(path)
    let report = try DatabaseCheck(database).run()
    #expect(report.isSound, "\(report.damages)", sourceLocation: sourceLocation)
}

extension DatabaseCheck {
    /// Prepares a check of the file at `path`.
    init(_ path: String, mostFindings: Int = Self.defaultFindings) throws(StoreError) {
        try self.init(.file(path), mostFindings: mostFindings)
    }
}
