/// Why a database cannot be opened.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    private enum Code: Sendable {
        case inUse, newer, unreadable, directory
    }

    private let code: Code
    /// What is wrong, and what can be done about it, for the person who started the server.
    public let description: String

    /// Another process has the database open.
    static func inUse(_ path: String) -> StoreError {
        StoreError(code: .inUse, description: "\(path) is in use by another server")
    }

    /// The database was written by a newer Backscroll.
    static func newer(_ path: String, migrations: [String]) -> StoreError {
        StoreError(
            code: .newer,
            description: "\(path) was written by a newer version of Backscroll, with "
                + "\(migrations.joined(separator: ", ")), which this version does not know")
    }

    /// The file is no database, or a damaged one, or it cannot be read or written.
    static func unreadable(_ path: String, reason: String) -> StoreError {
        StoreError(code: .unreadable, description: "\(path) cannot be used: \(reason)")
    }

    /// The directory of the database does not exist and cannot be made, or cannot be written.
    static func directory(_ path: String, reason: String) -> StoreError {
        StoreError(code: .directory, description: "the directory \(path) cannot be used for the database: \(reason)")
    }
}
