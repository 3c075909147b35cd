import ArgumentParser
import Commands
import Faults
import Logging
import Server
import Transport

/// `backscroll faults`.
struct FaultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Run a proxy that makes a server misbehave, to test clients.",
        discussion: """
            Clients connect to the proxy instead of the server. Their requests ask for faults with the header Backscroll-Fault: \
            NAME=VALUE, or the parameter fault. When the proxy is ready, it prints a line that begins with "listening on" on \
            standard output. The server learns the address of each client from the header Forwarded if it trusts the proxy \
            (--trust-proxy).

            For a server of your own on this machine, backscroll serve --faults does the same.
            """)

    @Option(help: ArgumentHelp("The server, http://HOST:PORT or https://HOST.", valueName: "url"))
    var upstream: String

    @Option(help: "The name or address to listen on. localhost is 127.0.0.1 and ::1.")
    var host = "localhost"

    @Option(help: "The port, 0 to 65535; 0 picks a free one.")
    var port = 8081

    @Option(
        help: ArgumentHelp("Trust the certificates in this file (PEM), not those of the system.", valueName: "path"))
    var tlsCa: String?

    func validate() throws {
        try check(port, 0...65_535, "port")
    }

    func run() async throws {
        let signals = await ServerSignals()
        guard let server = try Upstream(upstream, trust: tlsCa.map { .file($0) } ?? .system) else {
            throw ValidationError("--upstream must be http://HOST:PORT or https://HOST, not '\(upstream)'.")
        }
        let proxy = try FaultProxy(before: server, host: host, port: port)
        makeLogger(label: "backscroll", format: .text, level: .info).warning("\(FaultProxy.warning)")
        announce("http://\(host.contains(":") ? "[\(host)]" : host):\(proxy.port)")
        await signals.waitForStop()
        proxy.stop()
    }
}
