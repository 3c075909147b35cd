import Logging
import Transport

/// The requests that the log has a line of.
public enum RequestLogging: String, CaseIterable, Sendable {
    /// None.
    case off
    /// Requests that were answered with 400 or above, and live connections that were refused in their own terms.
    case refused
    /// All.
    case all

    /// True for a request that was refused, or not.
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

    /// `nil` when no requests are logged.
    init?(_ logging: RequestLogging, to logger: Logger) {
        guard logging != .off else { return nil }
        self.logging = logging
        var logger = logger
        // Who asks for these lines wants them also where the log is otherwise about what goes wrong.
        logger.logLevel = min(logger.logLevel, .info)
        self.logger = logger
    }

    /// Writes a line, if such requests are logged.
    func log(isRefused: Bool, _ line: () -> RequestLine) {
        guard logging.includes(isRefused: isRefused) else { return }
        logger.info("request", metadata: line().metadata)
    }
}

/// The log line of an answered request. Unknown values are left out: the path of a request that could
/// not be read, the name of somebody whose token was refused.
struct RequestLine {
    var method: String?
    /// The path as sent, without the query, which may hold a token.
    var path: String?
    var status: Int
    /// The problem's code, if the request was refused.
    var code: String?
    var user: String?
    var address: String?
    /// From the request's last byte to its answer.
    var duration: Duration
    /// The answer's head and body.
    var bytes: Int

    /// The line's values by their names.
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
    /// The log line of a WebSocket or an event stream that opens. Its number is told again when it closes.
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
    /// Logs the end of a WebSocket or an event stream.
    ///
    /// - Parameters:
    ///   - code: the close code; `nil` for an event stream, which has none.
    ///   - cause: why it ended, if its own protocol tells; otherwise it is what the connection knows.
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
    /// The time in microseconds, without fractions of them.
    fileprivate var wholeMicroseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
