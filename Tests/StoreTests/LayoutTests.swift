import TestSupport
import Testing

@Suite("The folders of the store")
struct LayoutTests {
    private static let sources =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Sources/Store"

    /// Returns the lines that name one of these types in the sources outside a folder.
    private func lines(naming types: String, outside folder: String) throws -> [Substring] {
        try run(
            "sh", "-c", "grep -rnwE --include=*.swift --exclude-dir=\(folder) '\(types)' \(Self.sources) || test $? = 1"
        )
        .split(separator: "\n")
    }

    @Test func `keep the journal and SQLite's errors inside SQLite's folder, apart from the journal's bounds`() throws {
        let found = try lines(
            naming: "Journal|JournalTransaction|Backlog|RecentMessage|RowFailure|SQLiteError|CSQLite", outside: "SQLite"
        )
        #expect(found.filter { !$0.contains("StoreConfiguration.swift") }.isEmpty, "\(found)")
    }

    @Test func `keep each store from the connection of the other`() throws {
        for (types, folder, other) in [
            ("PostgresConnection|PostgresStatement", "PostgreSQL", "SQLite"),
            ("SQLiteConnection|SQLiteStatement|SQLiteDatabase", "SQLite", "PostgreSQL"),
        ] {
            let found = try lines(naming: types, outside: folder).filter { $0.contains("/Store/\(other)/") }
            #expect(found.isEmpty, "\(found)")
        }
    }
}
