import ArgumentParser
import Commands
import Dispatch
import Glibc
import Server
import Synchronization
import Transport

/// `backscroll healthcheck`.
struct HealthCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck",
        abstract: "Check that the server on this machine answers.",
        discussion: """
            Exits with 0 if GET /healthz gets 200 within \(Self.patience) seconds, and with 1 otherwise. Containers check their \
            server with it.

            It asks at the address that the server listens on: at --metrics-listen, if that is set. It reads the server's options \
            from its command line, which is that of process 1 in a container, and from the environment.

              backscroll healthcheck
              backscroll healthcheck --port 8080
            """)

    @Option(help: "Ask at this port of 127.0.0.1 instead, with TLS if the server has a certificate.")
    var port: Int?

    @Option(help: ArgumentHelp("The process of the server.", valueName: "pid"))
    var process = 1

    /// Time in seconds for the answer.
    private static let patience = 3

    func validate() throws {
        if let port { try check(port, 1...65535, "port") }
    }

    func run() throws {
        let server = try serverOptions().serverConfiguration
        var address = Self.reachable(server.metricsAddress ?? ListenAddress(host: server.host, port: server.port))
        // The separate listener has no TLS.
        var isSecure = server.metricsAddress == nil && server.tls != nil
        if let port { (address, isSecure) = (ListenAddress(host: "127.0.0.1", port: port), server.tls != nil) }
        do {
            let status = try Self.ask(address, isSecure: isSecure)
            guard status.hasPrefix("HTTP/1.1 200 ") else { throw Failure(address: address, reason: status) }
        } catch let error as TransportError {
            throw Failure(address: address, reason: error.description)
        }
    }

    /// Returns the options of the server's command line and environment; those of the environment alone if the process is
    /// no server.
    private func serverOptions() throws -> ServeCommand {
        var arguments = Self.commandLine(of: process)
        let name = ServeCommand.configuration.commandName ?? ""
        arguments = arguments.dropFirst().first == name ? Array(arguments.dropFirst()) : [name]
        return try ServeCommand.parse(Array(EnvironmentArguments.added(to: arguments).arguments.dropFirst()))
    }

    private static func commandLine(of process: Int) -> [String] {
        guard let file = fopen("/proc/\(process)/cmdline", "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        // Each argument ends with a zero byte, and may be empty.
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Returns the address to connect to for one to listen on.
    private static func reachable(_ address: ListenAddress) -> ListenAddress {
        switch address.host {
        case "localhost", "0.0.0.0": ListenAddress(host: "127.0.0.1", port: address.port)
        case "::": ListenAddress(host: "::1", port: address.port)
        default: address
        }
    }

    /// Returns the first line of the answer, or what came in its place.
    private static func ask(_ address: ListenAddress, isSecure: Bool) throws(TransportError) -> String {
        let peer = try PeerAddress(host: address.host, port: address.port)
        // The certificate is for the name that clients use, not for this address.
        let tls = isSecure ? try ClientTLS(host: address.host, trust: .anyone) : nil
        let group = try LoopGroup(count: 1)
        defer { group.stop() }
        let loop = group.loops[0]
        let answer = Answer()
        loop.post {
            do throws(TransportError) {
                let connection = try loop.connect(to: peer, tls: tls) { _ in HealthRequest(answer) }
                connection?.write(HealthRequest.text)
            } catch {
                answer.give(error.description)
            }
        }
        return answer.wait(seconds: patience)
    }

    private struct Failure: Error, CustomStringConvertible {
        let address: ListenAddress
        let reason: String
        var description: String { "\(address) did not answer with 200: \(reason)" }
    }
}

/// The outcome of a request, which one thread gives and another waits for.
private final class Answer: Sendable {
    private let text = Mutex<String?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    /// Gives the outcome; only the first one counts.
    func give(_ outcome: String) {
        text.withLock { $0 = $0 ?? outcome }
        isGiven.signal()
    }

    func wait(seconds: Int) -> String {
        _ = isGiven.wait(timeout: .now() + .seconds(seconds))
        return text.withLock { $0 } ?? "no answer in \(seconds) s"
    }
}

/// A request for `/healthz`, which waits for the first line of the answer.
private final class HealthRequest: ConnectionHandler {
    static let text = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    private let answer: Answer
    private var line: [UInt8] = []

    init(_ answer: Answer) {
        self.answer = answer
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        for index in bytes.indices {
            guard bytes[index] != UInt8(ascii: "\r"), line.count < 100 else {
                return answer.give(String(decoding: line, as: UTF8.self))
            }
            line.append(bytes[index])
        }
    }

    func closed(_ connection: Connection) {
        answer.give(connection.failure ?? "the connection ended")
    }

    func drained(_ connection: Connection) {}
    func deadlineReached(_ connection: Connection) {}
    func shuttingDown(_ connection: Connection) {}
}
