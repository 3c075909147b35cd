import CCurl
import Glibc

/// The open sockets of a sender on which bytes belong to the request that was sent last: those of HTTP/1. The frames of
/// HTTP/2 say what they belong to, and may come at any time.
///
/// Confined to the sender's thread, and to the end of its worker.
final class SenderSockets {
    /// The open sockets, each with its local port; 0 until it is known.
    private var ports: [curl_socket_t: Int32] = [:]

    func add(_ socket: curl_socket_t) { ports[socket] = 0 }

    /// Forgets the connection with this local port, because it has HTTP/2.
    func forget(port: Int32) {
        for socket in ports.keys where self.port(of: socket) == port { ports[socket] = nil }
    }

    func close(_ socket: curl_socket_t) -> Int32 {
        ports[socket] = nil
        return Glibc.close(socket)
    }

    /// Returns true if bytes wait on the connection with this local port. Connections to several receivers may have the same
    /// one, and are then not told apart.
    func haveBytes(at port: Int32) -> Bool {
        ports.keys.contains { socket in
            var byte: UInt8 = 0
            return self.port(of: socket) == port && recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
        }
    }

    private func port(of socket: curl_socket_t) -> Int32 {
        // A port is chosen once, when the socket connects.
        if let known = ports[socket], known > 0 { return known }
        let port = backscroll_local_port(socket)
        ports[socket] = port
        return port
    }
}
