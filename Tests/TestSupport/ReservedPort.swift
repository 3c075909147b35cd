// Clang gives the addresses of sockets to whichever of the two modules it has read first.
import CLibwebsockets
import Glibc

/// A TCP port of 127.0.0.1 that nobody else gets while the value exists, also while the server that uses it is stopped.
///
/// A server that starts again on its port needs that. The system gives a free port to the next one that asks for any, so
/// another test's server could get it, with the clients that try to connect again.
///
/// The port is reserved by a socket that is bound to it and never listens, so connections are refused. Servers that set
/// SO_REUSEADDR may use the port all the same (socket(7), "SO_REUSEADDR"). It is none of those that the system gives to
/// servers that ask for any: such a server binds its port twice, and could take the port of this value in between.
public final class ReservedPort: Sendable {
    /// The port.
    public let number: Int
    private let descriptor: Int32

    /// The ports below those that Linux gives to servers and connections (ip(7), "ip_local_port_range").
    private static let ports = 20_000...32_000

    /// Reserves a free port.
    ///
    /// - Throws: ``CommandFailed`` if none of many is free.
    public init() throws {
        for _ in 0..<1000 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw CommandFailed(description: "socket: error \(errno)") }
            let number = Int.random(in: Self.ports)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = UInt16(number).bigEndian
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound else {
                close(descriptor)
                continue
            }
            // Set before, it would let two of these values have one port.
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            self.descriptor = descriptor
            self.number = number
            return
        }
        throw CommandFailed(description: "no port of \(Self.ports) is free")
    }

    deinit {
        close(descriptor)
    }
}
