import CLibwebsockets
import Glibc

/// The listening sockets of a server: one socket per address and loop. The kernel distributes new connections among
/// them (`SO_REUSEPORT`).
struct ListeningSockets {
    /// Maximum number of connections waiting to be accepted on each socket; the kernel caps it at `somaxconn`.
    static let backlog: Int32 = 4096

    /// The descriptors that each loop serves.
    private(set) var descriptors: [[Int32]]
    /// The port of all sockets.
    let port: Int

    /// Binds `host` and `port` for `loops` loops. Port 0 picks one that is free on every address of the host.
    ///
    /// - Throws: ``TransportError`` if another process listens there, or if the address does not belong to this
    ///   machine.
    init(host: String, port: Int, loops: Int) throws(TransportError) {
        // A machine without IPv6 has no ::1; localhost is then only 127.0.0.1.
        let resolved = try SocketAddress.resolve(host, port: port)
        let addresses = resolved.filter { $0.family != AF_INET6 || resolved.count == 1 || Self.hasIPv6 }
        // A port that is free on the first address may be taken on the second; another one is then picked.
        var attempts = port == 0 ? 16 : 1
        while true {
            attempts -= 1
            do throws(TransportError) {
                (descriptors, self.port) = try Self.bindAll(addresses, loops: loops)
                return
            } catch {
                guard error.isAddressInUse, attempts > 0 else { throw error }
            }
        }
    }

    /// Closes the sockets of this loop and those after it, which no loop has taken over.
    func close(from loop: Int) {
        for descriptor in descriptors[loop...].joined() { Glibc.close(descriptor) }
    }

    private static let hasIPv6: Bool = {
        guard let address = try? SocketAddress.resolve("::1", port: 0).first else { return false }
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return address.withPointer { bind(descriptor, $0, $1) } == 0
    }()

    private static func bindAll(
        _ addresses: [SocketAddress], loops: Int
    ) throws(TransportError) -> ([[Int32]], Int) {
        var all = Array(repeating: [Int32](), count: loops)
        var port = 0
        do throws(TransportError) {
            for var address in addresses {
                if port != 0 { address.port = port }
                // With SO_REUSEPORT a second server would share the port without an error. A socket without it may not
                // bind.
                let probe = try open(address, shared: false)
                Glibc.close(probe.descriptor)
                address.port = probe.port
                port = probe.port
                for loop in 0..<loops { all[loop].append(try open(address, shared: true).descriptor) }
            }
        } catch {
            for descriptor in all.joined() { Glibc.close(descriptor) }
            throw error
        }
        return (all, port)
    }

    private static func open(
        _ address: SocketAddress, shared: Bool
    ) throws(TransportError) -> (descriptor: Int32, port: Int) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw .system("socket", errno: errno) }
        func failure() -> TransportError {
            let number = errno
            Glibc.close(descriptor)
            let name = "\(address.host):\(address.port)"
            return number == EADDRINUSE ? .addressInUse(name) : .badAddress(name, reason: describe(errno: number))
        }
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if shared { setOption(descriptor, SOL_SOCKET, SO_REUSEPORT) }
        if address.family == AF_INET6 { setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else { throw failure() }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw failure() }
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            // A sockaddr_storage may hold any kind of address by definition (POSIX, <sys/socket.h>).
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return (descriptor, SocketAddress(bound).port)
    }
}
