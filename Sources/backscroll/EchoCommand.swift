import ArgumentParser
import Server

/// `backscroll echo`.
struct EchoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "echo",
        abstract: "Run a bare WebSocket echo server, for conformance suites.",
        discussion: """
            Every message comes back as it was sent, up to \(EchoServer.messageBytes / 1024 / 1024) MiB. It has the \
            loop and the codec of the chat server, and nothing else. When it is ready it says so on standard output, \
            in a line that begins with "listening on".
            """)

    @Option(help: "Where to listen: a name or an address.")
    var host = "localhost"

    @Option(help: "The port, 0 to 65535; 0 picks one that is free.")
    var port = 9001

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535, not \(port).")
        }
    }

    func run() async throws {
        let signals = await ServerSignals()
        let server = try EchoServer(host: host, port: port)
        announce("http://\(host):\(server.port)")
        await signals.waitForStop()
        server.stop()
    }
}
