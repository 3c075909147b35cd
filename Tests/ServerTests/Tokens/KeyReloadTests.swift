import HTTP
import HTTPTypes
import Logging
import TestSupport
import Testing
import Tokens

@testable import Server

@Suite("Reloaded token keys")
struct KeyReloadTests {
    private let messages = "/v1/rooms/lobby/messages"

    @Test func `apply from the next request on; unusable ones change nothing, and the log says so`() throws {
        let files = try TestKeys()
        let other = String(repeating: "x", count: 40)
        var sources = KeySources()
        sources.secretFile = try files.write(TestKeys.secret, to: "secret")
        let (old, new) = (try TestToken.of("alice"), try TestToken.of("alice", secret: other))
        let keys = try sources.load()
        let log = PipeEnds()
        let running = try RunningServer(
            keys,
            logger: makeLogger(
                label: "test", format: .text, level: .info, output: LogOutput(descriptor: log.writing)))
        func codes(_ port: Int) throws -> [Int] {
            let client = try HTTPClient(port: port)
            return try [old, new].map { try client.get(messages, fields: [.bearer($0)]).status.code }
        }
        #expect(try codes(running.server.port) == [200, 401])

        _ = try files.write("too short", to: "secret")
        running.server.reloadKeys(from: sources)
        #expect(try codes(running.server.port) == [200, 401])

        _ = try files.write(other, to: "secret")
        running.server.reloadKeys(from: sources)
        // The loops get the new keys before later requests.
        #expect(try codes(running.server.port) == [401, 200])
        running.server.stop()
        let lines = log.finish()
        #expect(lines.contains("the old ones stay") && lines.contains("32 bytes") && lines.contains("keys reloaded"))
        #expect(!lines.contains("too short") && !lines.contains(other))
    }
}

/// A server that the test stops itself, to wait for events in between.
private final class RunningServer {
    let server: Server
    private let directory: TemporaryDirectory

    init(_ keys: KeyRing, logger: Logger) throws {
        directory = try TemporaryDirectory()
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.threads = 2
        configuration.database = directory.path(of: "chat.db")
        configuration.tokens = TokenRules(keys: keys)
        server = try Server(configuration, logger: logger)
    }
}
