import Glibc
import HTTP
import Logging
import Server
import TestSupport
import Transport

/// A server that runs in this process, on a port of 127.0.0.1 and a database of its own.
final class LiveServer {
    /// What it was started with.
    let configuration: ServerConfiguration
    private let directory: TemporaryDirectory
    /// What runs, to be stopped from another thread.
    private(set) var server: Server!

    fileprivate init(_ configure: (inout ServerConfiguration) -> Void, logger: Logger) throws {
        directory = try TemporaryDirectory()
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.database = directory.path(of: "chat.db")
        // What tests write into Host, where it does not matter to them.
        configuration.allowedHosts = ["x", "h", "test.example"]
        // Who comes and goes is told to those tests that ask for it.
        configuration.presence = false
        // A test that leaves its clients open shall not wait for them at its end.
        configuration.transport.linger = .milliseconds(100)
        configuration.grace = .milliseconds(500)
        configure(&configuration)
        self.configuration = configuration
        server = try Server(configuration, logger: logger)
    }

    /// The port, while it runs.
    var port: Int { server.port }

    /// The directory of its database.
    var path: String { directory.path }

    /// Stops it as SIGTERM does. Harmless when it has been stopped.
    func stop() {
        server?.stop()
        server = nil
    }

    /// Starts it again on the same database, after ``stop()``.
    func start(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        precondition(server == nil, "stop it first")
        var configuration = configuration
        configure(&configuration)
        server = try Server(configuration, logger: .silent)
    }

    /// Stops it and starts it again on the same database.
    func restart() throws {
        stop()
        try start()
    }

}

extension Logger {
    /// Writes nothing.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Runs `body` with a server, and stops the server whatever comes of it.
///
/// - Parameters:
///   - configure: changes what the server is started with.
///   - logger: what it logs with.
func withServer<R>(
    _ configure: (inout ServerConfiguration) -> Void = { _ in }, logger: Logger = .silent,
    _ body: (LiveServer) throws -> R
) throws -> R {
    let server = try LiveServer(configure, logger: logger)
    defer { server.stop() }
    return try body(server)
}
