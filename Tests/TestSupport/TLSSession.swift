import CLibwebsockets
import Glibc

/// The TLS options of a ``TestClient``.
public struct TLSOptions: Sendable {
    /// The versions of TLS, with OpenSSL's numbers.
    public enum Version: Int, Sendable {
        /// Deprecated (RFC 8996).
        case tls11 = 0x0302
        /// RFC 5246.
        case tls12 = 0x0303
        /// RFC 8446.
        case tls13 = 0x0304
    }

    var versions: ClosedRange<Int>
    var protocols: [String]
    var resumed: TLSTicket?

    /// Creates options with a range of versions, and protocols to offer by ALPN, in order of preference.
    public init(
        _ lowest: Version = .tls12, to highest: Version? = nil, protocols: [String] = [], resuming: TLSTicket? = nil
    ) {
        versions = lowest.rawValue...(highest ?? lowest).rawValue
        self.protocols = protocols
        resumed = resuming
    }
}

/// The result of a handshake.
public struct TLSAgreement: Sendable, Equatable {
    /// The version, for example "TLSv1.3".
    public var version: String
    /// The subject of the server's certificate.
    public var certificate: String
    /// The protocol selected by ALPN; empty if none.
    public var applicationProtocol: String
    /// True if the server recognized the client's ticket.
    public var isResumed: Bool
}

/// A session ticket for a later connection.
///
/// Sendable because OpenSSL's session is not changed here, and its reference count is atomic.
public final class TLSTicket: @unchecked Sendable {
    fileprivate let session: OpaquePointer

    fileprivate init(_ session: OpaquePointer) {
        self.session = session
    }

    deinit {
        SSL_SESSION_free(session)
    }
}

/// The client side of TLS on a blocking socket, with OpenSSL.
final class TLSSession {
    private let context: OpaquePointer
    private let connection: OpaquePointer

    init(descriptor: Int32, options: TLSOptions) throws {
        context = SSL_CTX_new(TLS_client_method())!
        connection = SSL_new(context)!
        // Old versions need signatures that Debian's security level 2 forbids. Allow all, so that the server decides.
        SSL_set_security_level(connection, 0)
        SSL_ctrl(connection, SSL_CTRL_SET_MIN_PROTO_VERSION, options.versions.lowerBound, nil)
        SSL_ctrl(connection, SSL_CTRL_SET_MAX_PROTO_VERSION, options.versions.upperBound, nil)
        if let ticket = options.resumed { SSL_set_session(connection, ticket.session) }
        let offered = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offered.isEmpty { SSL_set_alpn_protos(connection, offered, UInt32(offered.count)) }
        SSL_set_fd(connection, descriptor)
        guard Self.uninterrupted(connection, { SSL_connect(connection) }) == 1 else {
            let reason = ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) }
            throw TestClientError.handshake(reason ?? "cut")
        }
    }

    deinit {
        // OpenSSL considers a session that was cut as invalid and would not resume it.
        SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(connection)
        SSL_CTX_free(context)
    }

    var agreement: TLSAgreement {
        var name = [CChar](repeating: 0, count: 256)
        if let certificate = SSL_get0_peer_certificate(connection) {
            X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
        }
        var chosen: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(connection, &chosen, &length)
        return TLSAgreement(
            version: String(cString: SSL_get_version(connection)),
            certificate: name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) },
            applicationProtocol: String(
                decoding: UnsafeBufferPointer(start: chosen, count: Int(length)), as: UTF8.self),
            isResumed: SSL_session_reused(connection) == 1)
    }

    /// The server's ticket. In TLS 1.3 it arrives with the first bytes that are read.
    var ticket: TLSTicket? { SSL_get1_session(connection).map(TLSTicket.init) }

    func write(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let count = bytes.withUnsafeBytes { bytes in
            Self.uninterrupted(connection) { SSL_write(connection, bytes.baseAddress, Int32(bytes.count)) }
        }
        guard count > 0 else { throw failure(count, "SSL_write") }
        return Int(count)
    }

    /// Returns the next bytes; none after the server's close_notify.
    func read(atMost size: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: size)
        let count = Self.uninterrupted(connection) { SSL_read(connection, &buffer, Int32(size)) }
        if count > 0 { return Array(buffer[..<Int(count)]) }
        if SSL_get_error(connection, count) == SSL_ERROR_ZERO_RETURN { return [] }
        throw failure(count, "SSL_read")
    }

    func sayGoodbye() {
        ERR_clear_error()
        SSL_shutdown(connection)
    }

    /// Repeats a call of OpenSSL that was interrupted, as ``TestClient`` does.
    private static func uninterrupted(_ connection: OpaquePointer, _ call: () -> Int32) -> Int32 {
        while true {
            ERR_clear_error()
            errno = 0
            let result = call()
            // After the time limit of the socket it is EAGAIN; after an interruption OpenSSL may have replaced it.
            guard result <= 0, errno != EAGAIN,
                [SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE].contains(SSL_get_error(connection, result))
            else { return result }
        }
    }

    private func failure(_ result: Int32, _ call: String) -> TestClientError {
        switch SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .timedOut
        // An end without close_notify, which OpenSSL cannot distinguish from an attack.
        case SSL_ERROR_SSL: .reset
        default: TestClient.error(call)
        }
    }
}
