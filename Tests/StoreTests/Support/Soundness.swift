import Testing

@testable import Store

/// Expects a check to find no damage in the database at `path`.
func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try DatabaseCheck(path).run()
    #expect(report.isSound, "\(report.damages)", sourceLocation: sourceLocation)
}
