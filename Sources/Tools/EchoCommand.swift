import ArgumentParser
import Commands
import Server

/// `backscroll-tools echo`.
struct EchoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "echo",
        abstract: "Run a bare WebSocket echo server, for conformance suites.",
        discussion: """
            The server sends every message back, up to \(EchoServer.messageBytes / 1024 / 1024) MiB. It runs the chat server's \
            event loop and codec, and nothing else. When it is ready, it prints a line that begins with "listening on" on \
            standard output.
            """)

    @Option(help: "The name or address to listen on.")
    var host = "localhost"

    @Option(help: "The port, 0 to 65535; 0 picks a free one.")
    var port = 9001

    func validate() throws {
        try check(port, 0...65535, "port")
    }

    func run() async throws {
        let signals = await ServerSignals()
        let server = try EchoServer(host: host, port: port)
        announce("http://\(host):\(server.port)")
        await signals.waitForStop()
        server.stop()
    }
}
