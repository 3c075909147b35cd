/// Sends deliveries to receivers.
///
/// No call blocks. Implementations judge addresses, follow no redirects, and read a bounded number of bytes of an answer.
public protocol Sender: Sendable {
    /// Posts a body.
    ///
    /// - Parameters:
    ///   - url: An absolute URL with `https`, or with `http` if the implementation was told to allow it.
    ///   - headers: Names and values, without `Content-Length` and `Host`.
    ///   - timeout: The time until the whole answer must have arrived.
    ///   - completion: Called once, on any thread, also for a request that is refused at once. Must return quickly.
    func post(
        _ url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration,
        completion: @escaping @Sendable (Result<SenderAnswer, SenderError>) -> Void)
}

/// A receiver's answer.
public struct SenderAnswer: Sendable, Hashable {
    /// Default maximum number of bytes of ``body``: 4 KiB.
    public static let maximumBody = 4096

    /// The status of HTTP.
    public var status: Int
    /// The seconds of `Retry-After`, also if it has a date; `nil` without a valid one.
    public var retryAfter: Int?
    /// The first bytes of the body.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, retryAfter: Int? = nil, body: [UInt8] = []) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// The reason why there is no answer: no connection, a refused address, a timeout, bytes that are not HTTP.
public struct SenderError: Error, Hashable, CustomStringConvertible {
    /// One line, without secrets and without control characters.
    public var description: String

    /// Creates the reason.
    public init(_ description: String) { self.description = description }
}
