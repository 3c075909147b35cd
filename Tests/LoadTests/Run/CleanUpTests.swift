import ArgumentParser
import Commands
import Logging
import Server
import TestSupport
import Testing
import Transport

@testable import Load

/// Tests runs that delete their rooms, against Backscroll itself.
@Suite struct CleanUpTests {
    @Test func `deletes the rooms of its run, and no others`() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.database = directory.path(of: "chat.db")
        configuration.grace = .milliseconds(500)
        let server = try Server(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { server.stop() }
        let options = [server.url, "--subscribers=3", "--rooms=3", "--messages=9", "--clean-up"]
        let builder = PlanBuilder(try LoadCommand.parse(options))
        let rooms = try RunRooms(builder, run: 7, console: Console(isQuiet: true))
        try await EndToEndTests.onOwnThread { try await rooms.make() }
        let report = try await EndToEndTests.run([server.url, "--subscribers=3", "--rooms=3", "--messages=9"])
        #expect(report.isGood, "\(report.verdict?.lines ?? [])")
        try await EndToEndTests.onOwnThread { try await rooms.delete() }
        for room in 0..<3 { #expect(try status(of: "load-7-\(room)", at: server.port) == "410") }
        #expect(try status(of: "load-8-0", at: server.port) == "200")
        // Deleting a deleted room is an error with the reason.
        let error = await #expect(throws: LoadError.self) {
            try await EndToEndTests.onOwnThread { try await rooms.delete() }
        }
        #expect(error?.description.contains("only 0 of 3 rooms") == true)
    }

    @Test func `deletes only rooms with the run's own names`() throws {
        for options in [["--room", "lobby"], ["--ws", "ws://h/{room}", "--post", "http://h/{room}"]] {
            #expect(throws: (any Error).self) { try LoadCommand.parse(["http://h", "--clean-up"] + options) }
        }
        #expect(throws: Never.self) { try LoadCommand.parse(["http://h", "--clean-up"]) }
    }

    private func status(of room: String, at port: Int) throws -> String {
        let client = try TestClient(port: port)
        try client.send("GET /v1/rooms/\(room)?user=alice HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let line = String(decoding: try client.receive { $0.contains(UInt8(ascii: "\n")) }, as: UTF8.self)
        return String(line.split(separator: " ")[1])
    }
}
