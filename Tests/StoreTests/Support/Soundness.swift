import Testing

@testable import Store

/// Expects a check to find no damage in the database that stands for the file at `path`.
func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try DatabaseCheck(TestStore.location(of: path)).run()
    #expect(report.isSound, "\(report.damages)", sourceLocation: sourceLocation)
}

extension DatabaseCheck {
    /// Prepares a check of the file at `path`.
    init(_ path: String, mostFindings: Int = Self.defaultFindings) throws(StoreError) {
        try self.init(.file(path), mostFindings: mostFindings)
    }
}
