import CLibwebsockets
import Glibc

/// An IP address and port of a socket.
struct SocketAddress: Sendable {
    private var storage: sockaddr_storage

    init(_ storage: sockaddr_storage) {
        self.storage = storage
    }

    /// Returns the addresses of a name, of every family that this machine supports.
    ///
    /// `localhost` is both 127.0.0.1 and ::1, whatever the resolver's files say.
    static func resolve(_ host: String, port: Int) throws(TransportError) -> [SocketAddress] {
        // The resolver would read 65537 as 1.
        guard 0...65_535 ~= port else {
            throw .badAddress("\(host):\(port)", reason: "a port is a number from 0 to 65535")
        }
        let names = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
        var found: [SocketAddress] = []
        for name in names {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
            var list: UnsafeMutablePointer<addrinfo>?
            let status = getaddrinfo(name, String(port), &hints, &list)
            guard status == 0 else {
                throw .badAddress("\(host):\(port)", reason: String(cString: gai_strerror(status)))
            }
            // The caller of getaddrinfo owns the list and must free it.
            defer { freeaddrinfo(list) }
            var entry = list
            while let info = entry?.pointee {
                entry = info.ai_next
                guard let address = info.ai_addr else { continue }
                var storage = sockaddr_storage()
                withUnsafeMutableBytes(of: &storage) {
                    $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
                }
                found.append(SocketAddress(storage))
            }
        }
        return found
    }

    /// The address family: AF_INET or AF_INET6.
    var family: Int32 { Int32(storage.ss_family) }

    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.") }

    var port: Int {
        get {
            switch family {
            case AF_INET: Int(UInt16(bigEndian: view(as: sockaddr_in.self).sin_port))
            case AF_INET6: Int(UInt16(bigEndian: view(as: sockaddr_in6.self).sin6_port))
            default: 0
            }
        }
        set {
            // The port is at the same offset in both families (RFC 3493, 3.3).
            withUnsafeMutableBytes(of: &storage) {
                $0.storeBytes(of: UInt16(newValue).bigEndian, toByteOffset: 2, as: UInt16.self)
            }
        }
    }

    /// The address in its usual notation, without the port.
    var host: String {
        let offset = family == AF_INET ? 4 : 8
        return withUnsafeBytes(of: storage) { IPAddress.text($0.baseAddress! + offset, family: family) }
    }

    /// Returns a socket that is connecting to this address.
    ///
    /// An immediate refusal is not reported here. As with a later one, reading the socket reports it.
    ///
    /// - Parameter receiveBuffer: the size of the kernel's receive buffer in bytes (SO_RCVBUF); nil for the default.
    func connect(receiveBuffer: Int32? = nil) throws(TransportError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw .system("socket", errno: errno) }
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        // It must be set before the connection is established, when the window is negotiated (tcp(7)).
        if let receiveBuffer { setOption(descriptor, SOL_SOCKET, SO_RCVBUF, to: receiveBuffer) }
        _ = withPointer { Glibc.connect(descriptor, $0, $1) }
        return descriptor
    }

    private func view<T>(as type: T.Type) -> T {
        withUnsafeBytes(of: storage) { $0.loadUnaligned(as: type) }
    }

    /// Calls `body` with the address in the form that socket calls take.
    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        return withUnsafePointer(to: storage) { pointer in
            // A sockaddr_storage may be used as any kind of address by definition (POSIX, <sys/socket.h>).
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
        }
    }
}

/// The address that a client connects to.
public struct PeerAddress: Sendable {
    let address: SocketAddress

    /// Resolves `host` to its first address.
    ///
    /// - Throws: ``TransportError`` if it does not resolve.
    public init(host: String, port: Int) throws(TransportError) {
        guard let first = try SocketAddress.resolve(host, port: port).first else {
            throw .badAddress("\(host):\(port)", reason: "it has no address")
        }
        address = first
    }
}
