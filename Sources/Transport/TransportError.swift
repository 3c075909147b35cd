/// The reason why a loop, a listener or a certificate is not available.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// True if another process uses the address.
    public private(set) var isAddressInUse = false
    /// A description of the problem, for the person who started the server.
    public let description: String

    /// The address is malformed, does not resolve, or does not belong to this machine.
    static func badAddress(_ address: String, reason: String) -> TransportError {
        TransportError(description: "cannot use the address \(address): \(reason)")
    }

    static func addressInUse(_ address: String) -> TransportError {
        TransportError(
            isAddressInUse: true,
            description: "cannot listen on \(address): another process is listening there already")
    }

    static func badCertificate(_ path: String, reason: String) -> TransportError {
        TransportError(description: "cannot use \(path): \(reason)")
    }

    static func system(_ call: String, errno: Int32) -> TransportError {
        TransportError(description: "\(call): \(describe(errno: errno))")
    }

    /// The system did not provide a resource that is needed at start.
    static func unavailable(_ what: String) -> TransportError {
        TransportError(description: what)
    }
}
