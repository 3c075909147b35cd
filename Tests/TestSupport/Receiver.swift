import CLibwebsockets
import Glibc
import Threads

/// A receiver of deliveries on 127.0.0.1, which answers each request as a test says.
package final class Receiver: Sendable {
    /// A connection, used by its own thread.
    package struct Connection: ~Copyable {
        fileprivate let descriptor: Int32
        /// OpenSSL's connection; `nil` without TLS.
        fileprivate let tls: OpaquePointer?

        deinit {
            SSL_free(tls)
            Glibc.close(descriptor)
        }

        /// Returns a request with its body; `nil` at the end of the connection.
        package borrowing func request() -> String? {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let text = String(decoding: bytes, as: UTF8.self)
                if let end = text.firstRange(of: "\r\n\r\n") {
                    let length = text[..<end.lowerBound].split(separator: "\r\n").lazy
                        .compactMap { $0.lowercased().hasPrefix("content-length: ") ? Int($0.dropFirst(16)) : nil }
                        .first
                    if text[end.upperBound...].utf8.count >= length ?? 0 { return text }
                }
                let count = read(into: &chunk)
                guard count > 0 else { return nil }
                bytes += chunk[..<count]
            }
        }

        /// Writes an answer, or a part of one. Returns false if the other side has gone.
        @discardableResult
        package borrowing func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        /// Writes bytes. Returns false if the other side has gone.
        @discardableResult
        package borrowing func write(_ bytes: [UInt8]) -> Bool {
            if let tls { return SSL_write(tls, bytes, Int32(bytes.count)) == bytes.count }
            return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        /// Reads what has arrived, and waits for some bytes before. Returns their number; 0 or less at the end.
        package borrowing func read(into buffer: inout [UInt8]) -> Int {
            if let tls { return Int(SSL_read(tls, &buffer, Int32(buffer.count))) }
            return recv(descriptor, &buffer, buffer.count, 0)
        }

        /// Lets the end of the connection be a reset.
        package borrowing func endsWithReset() {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }

        /// Waits until the other side closes the connection.
        package borrowing func waitForEnd() {
            var chunk = [UInt8](repeating: 0, count: 1024)
            while read(into: &chunk) > 0 {}
        }
    }

    package let port: Int
    private let listener: Int32
    private let scheme: String

    /// Listens, and calls `serve` for each connection on a thread of its own.
    ///
    /// - Parameters:
    ///   - certificate: The certificate for TLS; `nil` for connections without it.
    ///   - isHTTP2: True to choose HTTP/2 with TLS.
    package init(
        certificate: TestCertificate? = nil, isHTTP2: Bool = false,
        _ serve: @escaping @Sendable (borrowing Connection) -> Void
    ) {
        let context = certificate.map { TLSContext($0, isHTTP2: isHTTP2) }
        scheme = context == nil ? "http" : "https"
        // No process that another test starts keeps a connection open.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            // A sockaddr_in is a sockaddr by definition (POSIX, <sys/socket.h>).
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        precondition(bound)
        listener = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        _ = NamedThread(name: "receiver") {
            while true {
                let accepted = accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                guard accepted >= 0 else { return }
                _ = NamedThread(name: "connection") {
                    let connection = Connection(descriptor: accepted, tls: context?.accept(accepted))
                    if context == nil || connection.tls != nil { serve(connection) }
                }
            }
        }
    }

    deinit {
        // Ends the thread's accept.
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    /// The URL of a path.
    package func url(_ path: String = "/", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }
}

/// The server side of TLS.
///
/// Sendable because OpenSSL's context is not changed after it is created, and its reference count is atomic.
private final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    init(_ certificate: TestCertificate, isHTTP2: Bool) {
        // A write to a client that has gone must fail with an error, not a signal.
        signal(SIGPIPE, SIG_IGN)
        context = SSL_CTX_new(TLS_server_method())!
        precondition(SSL_CTX_use_certificate_file(context, certificate.certificatePath, SSL_FILETYPE_PEM) == 1)
        precondition(SSL_CTX_use_PrivateKey_file(context, certificate.keyPath, SSL_FILETYPE_PEM) == 1)
        guard isHTTP2 else { return }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, length, offered, count, _ in
                // The client's list: each name after its length (RFC 7301, section 3.1).
                let list = UnsafeBufferPointer(start: offered, count: Int(count))
                guard let place = list.firstRange(of: [2, UInt8(ascii: "h"), UInt8(ascii: "2")])?.lowerBound else {
                    return SSL_TLSEXT_ERR_NOACK
                }
                chosen!.pointee = offered! + place + 1
                length!.pointee = 2
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    deinit { SSL_CTX_free(context) }

    /// Returns a connection after its handshake; `nil` if that fails.
    func accept(_ descriptor: Int32) -> OpaquePointer? {
        let connection = SSL_new(context)!
        SSL_set_fd(connection, descriptor)
        if SSL_accept(connection) == 1 { return connection }
        SSL_free(connection)
        return nil
    }
}
