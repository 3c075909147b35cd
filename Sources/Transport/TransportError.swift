/// The reason why a loop, a listener or a certificate is not available.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    private enum Code: Sendable {
        case address, addressInUse, certificate, system
    }

    private let code: Code
    /// A description of the problem, for the person who started the server.
    public let description: String

    /// The address is malformed, does not resolve, or does not belong to this machine.
    static func badAddress(_ address: String, reason: String) -> TransportError {
        TransportError(code: .address, description: "cannot use the address \(address): \(reason)")
    }

    /// Another process already listens on the address.
    static func addressInUse(_ address: String) -> TransportError {
        TransportError(
            code: .addressInUse,
            description: "cannot listen on \(address): another process is listening there already")
    }

    /// The certificate or its key cannot be used.
    static func badCertificate(_ path: String, reason: String) -> TransportError {
        TransportError(code: .certificate, description: "cannot use \(path): \(reason)")
    }

    /// A system call failed.
    static func system(_ call: String, errno: Int32) -> TransportError {
        TransportError(code: .system, description: "\(call): \(describe(errno: errno))")
    }

    /// The system did not provide a resource that is needed at start.
    static func unavailable(_ what: String) -> TransportError {
        TransportError(code: .system, description: what)
    }

    /// True if another process uses the address.
    public var isAddressInUse: Bool { code == .addressInUse }
}
