import Logging
import Transport
import WebSocket

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
    func log(isRefused: Bool, _ line: () -> RequestLine) {
        guard logging.includes(isRefused: isRefused) else { return }
        logger.info("request", metadata: line().metadata)
    }
}

/// The log line of an answered request. Unknown values are left out: the path if the request could not be read, the
/// user if the token was refused.
struct RequestLine {
    var method: String?
    /// The path as sent, without the query, which may contain a token.
    var path: String?
    var status: Int
    /// The problem's code, if the request was refused.
    var code: String?
    var user: String?
    var address: String?
    /// The time from the request's last byte to its answer.
    var duration: Duration
    /// The size of the answer, head and body, in bytes.
    var bytes: Int

    /// The values of the line, by name.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "status": .stringConvertible(status),
            "duration_ms": .stringConvertible(duration.wholeMicroseconds / 1000), "bytes": .stringConvertible(bytes),
        ]
        metadata["method"] = method.map { .string($0) }
        metadata["path"] = path.map { .string($0) }
        metadata["code"] = code.map { .string($0) }
        metadata["user"] = user.map { .string($0) }
        metadata["address"] = address.map { .string($0) }
        return metadata
    }
}

extension RequestLine {
    /// Returns the log line of a WebSocket or an event stream that opens. The line of its end has the same number.
    static func ofSocket(
        _ connection: Connection, kind: String, path: String?, user: String?, address: String?
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["socket": .string(connection.logNumber), "kind": .string(kind)]
        metadata["path"] = path.map { .string($0) }
        metadata["user"] = user.map { .string($0) }
        metadata["address"] = address.map { .string($0) }
        return metadata
    }
}

extension Worker {
    /// Counts a closed WebSocket, and logs it.
    func countClose(of socket: WebSocketConnection) {
        let code = (socket.closeCode ?? .abnormalClosure).rawValue
        services.metrics.webSocketCloses.count(code)
        logClosed(socket.connection, code: code, because: socket.cause)
    }

    /// Logs the end of a WebSocket or an event stream.
    ///
    /// - Parameters:
    ///   - code: The close code; `nil` for an event stream.
    ///   - cause: The reason in the terms of its protocol. By default the connection's own reason.
    func logClosed(_ connection: Connection, code: UInt16?, because cause: String?) {
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

extension Duration {
    /// The time in microseconds, rounded down to whole ones.
    fileprivate var wholeMicroseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
