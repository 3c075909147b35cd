import CoreMetrics
import HTTP
import HTTPTypes
import Logging
import Transport
import WebSocket
import Wire

/// The requests that are logged.
public enum RequestLogging: String, CaseIterable, Sendable {
    /// None.
    case off
    /// Requests answered with 400 or above, and WebSockets and event streams refused with an error frame or event.
    case refused
    /// All.
    case all

    /// Returns true if a request with this outcome is logged.
    func includes(isRefused: Bool) -> Bool {
        switch self {
        case .off: false
        case .refused: isRefused
        case .all: true
        }
    }
}

/// The log of requests. It exists only when requests are logged.
struct RequestLog: Sendable {
    private let logging: RequestLogging
    private let logger: Logger

    /// Returns `nil` when no requests are logged.
    init?(_ logging: RequestLogging, to logger: Logger) {
        guard logging != .off else { return nil }
        self.logging = logging
        var logger = logger
        // Request lines have level info. They are written even if the log's level is higher, because they were asked
        // for.
        logger.logLevel = min(logger.logLevel, .info)
        self.logger = logger
    }

    /// Writes a line, if requests with this outcome are logged.
    func log(isRefused: Bool, _ line: () -> Logger.Metadata) {
        guard logging.includes(isRefused: isRefused) else { return }
        logger.info("request", metadata: line())
    }
}

/// The values of log lines about one request.
struct RequestLine {
    private let exchange: Exchange
    private let http: HTTPConnection

    init(of exchange: Exchange, on http: HTTPConnection) {
        self.exchange = exchange
        self.http = http
    }

    /// Returns the values of the line about the request, which was answered.
    ///
    /// - Parameters:
    ///   - duration: The time from the request's last byte to its answer.
    ///   - bytes: The size of the answer, head and body, in bytes.
    func values(status: Int, duration: Duration, bytes: Int) -> Logger.Metadata {
        var line = common
        let method = exchange.request.method
        line["method"] = method == Exchange.unreadMethod ? nil : .string(method.rawValue)
        line["status"] = .stringConvertible(status)
        line["code"] = exchange.code.map { .string($0.string) }
        line["duration_ms"] = .stringConvertible(Double(duration.nanoseconds / 1000) / 1000)
        line["bytes"] = .stringConvertible(bytes)
        return line
    }

    /// Returns the values of the line about a WebSocket or an event stream that opens. The line of its end has the same
    /// number.
    func values(ofOpened kind: String) -> Logger.Metadata {
        var line = common
        line["socket"] = .string(http.connection.logNumber)
        line["kind"] = .string(kind)
        return line
    }

    /// The path as sent, without the query, which may contain a token; the user; the trace; and the address. Unknown
    /// values are left out: the path if the request could not be read, the user if the token was refused.
    private var common: Logger.Metadata {
        let request = exchange.request
        var values: Logger.Metadata = [:]
        values["path"] = request.target.map { .string($0.path) }
        values["user"] = exchange.loggedUser.map { .string($0.string) }
        values["trace"] = TraceParent.value(of: request.headerFields).map { .string($0) }
        values["address"] = http.clientAddress(of: request).map { .string($0.description) }
        return values
    }
}

extension Worker {
    /// Counts a closed WebSocket, and logs it.
    func countClose(of socket: WebSocketConnection) {
        let code = (socket.closeCode ?? .abnormalClosure).rawValue
        services.metrics.webSocketCloses.count(code)
        logClosed(socket.connection, code: code, because: socket.cause)
    }

    /// Logs the end of a WebSocket or an event stream, and counts it if the client was too slow.
    ///
    /// - Parameters:
    ///   - code: The close code; `nil` for an event stream.
    ///   - cause: The reason in the terms of its protocol. By default the connection's own reason.
    func logClosed(_ connection: Connection, code: UInt16?, because cause: String?) {
        switch connection.end {
        case .stalled: services.metrics.stalledClients.increment()
        case .unsent: services.metrics.unsentClients.increment()
        case .client, .server: break
        }
        services.logger.debug(
            "socket closed",
            metadata: [
                "socket": .string(connection.logNumber), "cause": .string(cause ?? connection.end.description),
            ].merging(code.map { ["code": .stringConvertible($0)] } ?? [:]) { $1 })
    }
}

extension Connection {
    /// The number of this connection in the log, unique in the process.
    fileprivate var logNumber: String { "\(loop.index).\(id)" }
}
