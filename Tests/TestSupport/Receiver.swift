import Glibc
import Synchronization
import Threads

/// A receiver of deliveries on 127.0.0.1, which answers each request as a test says.
package final class Receiver: Sendable {
    /// A connection, used by its own thread.
    package struct Connection: ~Copyable {
        fileprivate let descriptor: Int32

        deinit { Glibc.close(descriptor) }

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
                let count = recv(descriptor, &chunk, chunk.count, 0)
                guard count > 0 else { return nil }
                bytes += chunk[..<count]
            }
        }

        /// Writes an answer, or a part of one. Returns false if the other side has gone.
        @discardableResult
        package borrowing func write(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        /// Waits until the other side closes the connection.
        package borrowing func waitForEnd() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }
    }

    package let port: Int
    private let listener: Int32

    /// Listens, and calls `serve` for each connection on a thread of its own.
    package init(_ serve: @escaping @Sendable (borrowing Connection) -> Void) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0 else { return }
                _ = NamedThread(name: "connection") { serve(Connection(descriptor: accepted)) }
            }
        }
    }

    deinit {
        // Ends the thread's accept.
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    /// The URL of a path.
    package func url(_ path: String = "/", host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }
}
