/// The reason why a loop, a listener or a certificate could not be had.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    private enum Code: Sendable {
        case address, addressInUse, certificate, system
    }

    private let code: Code
    /// What went wrong, in words for the person who started the server.
    public let description: String

    /// The address is not one, does not resolve, or is not one of this machine's.
    static func badAddress(_ address: String, reason: String) -> TransportError {
        TransportError(code: .address, description: "cannot use the address \(address): \(reason)")
    }

    /// Another process listens there already.
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

    /// Something that the system is asked for at start was not given.
    static func unavailable(_ what: String) -> TransportError {
        TransportError(code: .system, description: what)
    }

    /// True if another process has the address.
    public var isAddressInUse: Bool { code == .addressInUse }
}
