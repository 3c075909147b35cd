import Glibc
import HTTP
import Logging
import Server
import TestSupport
import Transport

@testable import Store

/// A server that runs in this process, on a port of 127.0.0.1 with a database of its own.
final class LiveServer {
    /// Its configuration at the start.
    let configuration: ServerConfiguration
    private let directory: TemporaryDirectory
    /// The running server; other threads may stop it.
    private(set) var server: Server!

    fileprivate init(_ configure: (inout ServerConfiguration) -> Void, logger: Logger) throws {
        directory = try TemporaryDirectory()
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.database = try Self.database(in: directory)
        configuration.unsafeDatabase = TestPostgres.isTestedStore
        // Names that tests use as Host.
        configuration.allowedHosts = ["x", "h", "test.example"]
        // Presence is off, except in tests of it.
        configuration.presence = false
        // Tests look at metrics right after what changes them.
        configuration.metricsInterval = .zero
        // Tests that leave their clients open should not wait for them at the end.
        configuration.transport.linger = .milliseconds(100)
        configuration.grace = .milliseconds(500)
        configure(&configuration)
        self.configuration = configuration
        server = try Server(configuration, logger: logger)
    }

    private static func database(in directory: TemporaryDirectory) throws -> String {
        guard TestPostgres.isTestedStore else { return directory.path(of: "chat.db") }
        let postgres = try TestPostgres.contract()
        let name = try postgres.createDatabase { url in
            try PostgresSchema.migrate(PostgresConnection(PostgresConnection.Settings(url: url)))
        }
        return postgres.url(of: name)
    }

    /// Returns the path or URL of another, empty database.
    func anotherDatabase() throws -> String {
        guard TestPostgres.isTestedStore else { return directory.path(of: "other.db") }
        let postgres = try TestPostgres.contract()
        return postgres.url(of: try postgres.createDatabase())
    }

    /// The port; valid while the server runs.
    var port: Int { server.port }

    /// The directory of its database.
    var path: String { directory.path }

    /// Stops the server like SIGTERM. Harmless if it has stopped.
    func stop() {
        server?.stop()
        server = nil
    }

    /// Starts the server again on the same database, after ``stop()``.
    func start(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        precondition(server == nil, "stop it first")
        var configuration = configuration
        configure(&configuration)
        server = try Server(configuration, logger: .silent)
    }

    /// Restarts the server on the same database.
    func restart() throws {
        stop()
        try start()
    }

}

extension Logger {
    /// Discards all messages.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Runs `body` with a server, and always stops it.
///
/// - Parameters:
///   - configure: Changes the server's configuration.
///   - logger: The server's logger.
func withServer<R>(
    _ configure: (inout ServerConfiguration) -> Void = { _ in }, logger: Logger = .silent,
    _ body: (LiveServer) throws -> R
) throws -> R {
    let server = try LiveServer(configure, logger: logger)
    defer { server.stop() }
    return try body(server)
}
