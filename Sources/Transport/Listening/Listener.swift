import CLibwebsockets
import Glibc

/// A listening socket on a loop. It accepts connections, and answers those beyond the limit with a refusal.
final class Listener {
    private unowned let loop: Loop
    private let descriptor: Int32
    private let admitted: ConnectionCount
    /// The limit on connections that are kept to send them a refusal.
    private let refusals: ConnectionCount
    private let options: ListenerOptions
    private let makeHandler: (Connection) -> any ConnectionHandler
    /// The sockets whose PROXY headers are being read, by their descriptors.
    private var proxied: [Int32: (socket: ProxiedSocket, count: ConnectionCount)] = [:]
    // Handles of libuv: initialized in `init`, freed by `close` after libuv has released them.
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let pause: UnsafeMutablePointer<uv_timer_t>
    /// A spare descriptor. If the process has no others left, the listener closes it, so that it can accept and refuse
    /// a connection.
    private var spare: Int32

    init(
        descriptor: Int32, loop: Loop, uv: UnsafeMutablePointer<uv_loop_t>, admitted: ConnectionCount,
        options: ListenerOptions,
        makeHandler: @escaping (Connection) -> any ConnectionHandler
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.admitted = admitted
        self.options = options
        self.makeHandler = makeHandler
        // A TLS client can only read a refusal after a handshake, which a refused client does not get.
        refusals = ConnectionCount(limit: options.isSecure ? 0 : loop.limits.refusals)
        spare = Self.openSpare()
        poll = .allocate(capacity: 1)
        pause = .allocate(capacity: 1)
        uv_poll_init_socket(uv, poll, descriptor)
        uv_timer_init(uv, pause)
        let this = Unmanaged.passUnretained(self).toOpaque()
        poll.pointee.data = this
        pause.pointee.data = this
        resume()
    }

    // The pointer is the listener's own, set in `init`. Its loop holds the listener until `close`, after which libuv
    // makes no calls.
    private static func from(_ data: UnsafeMutableRawPointer) -> Listener {
        Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
    }

    private static func openSpare() -> Int32 {
        open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    private func resume() {
        if spare < 0 { spare = Self.openSpare() }
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            Listener.from(handle!.pointee.data).accept()
        }
    }

    private func accept() {
        if let rest = loop.acceptPace.rest(at: .now) { return pauseAccepting(for: rest) }
        for _ in 0..<loop.limits.acceptsPerTurn {
            var address = sockaddr_storage()
            let accepted = backscroll_accept(descriptor, &address)
            if accepted >= 0 {
                welcome(accepted, from: SocketAddress(address))
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED, EPROTO: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return shed()
            default: return
            }
        }
    }

    private func welcome(_ socket: Int32, from address: SocketAddress) {
        // Closing a socket with an unread request would discard the refusal, so a refused client also keeps a place for
        // a while.
        guard let count = admitted.enter() ? admitted : refusals.enter() ? refusals : nil else {
            return dismiss(socket)
        }
        let peer = address.host
        guard let peerAddress = IPAddress(peer), options.proxies.contains(peerAddress) else {
            return serve(socket, from: peer, count)
        }
        let proxiedSocket = ProxiedSocket(socket) { [unowned self] result in
            proxied[socket] = nil
            switch result {
            case .source(let source):
                serve(socket, from: source?.description ?? peer, count)
            case .failed(let reason):
                count.leave()
                admitted.refuse()
                Glibc.close(socket)
                options.onProxyFailure(peer, reason)
            }
        }
        proxied[socket] = (proxiedSocket, count)
        proxiedSocket.begin(on: loop.uv, deadline: loop.limits.proxyHeader)
    }

    private func serve(_ socket: Int32, from peer: String, _ count: ConnectionCount) {
        guard count === admitted else {
            loop.adopt(socket, peer: peer, secure: false, count: count, handler: options.refusal)
            return
        }
        setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
        setOption(socket, SOL_SOCKET, SO_SNDBUF, to: Int32(loop.limits.sendBuffer))
        loop.adopt(socket, peer: peer, secure: options.isSecure, count: count, handler: makeHandler)
    }

    /// Sends 503 if possible, and closes the socket.
    private func dismiss(_ socket: Int32) {
        if !options.isSecure {
            _ = Refusal.answer.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        Glibc.close(socket)
    }

    /// Handles a lack of descriptors. It empties the accept queue with the spare descriptor, as far as possible. Then
    /// the listener pauses, because it would otherwise be called again at once.
    private func shed() {
        for _ in 0..<loop.limits.acceptsPerTurn where spare >= 0 {
            Glibc.close(spare)
            var address = sockaddr_storage()
            let accepted = backscroll_accept(descriptor, &address)
            if accepted >= 0 {
                admitted.refuse()
                dismiss(accepted)
            }
            spare = Self.openSpare()
            if accepted < 0 { break }
        }
        pauseAccepting(for: loop.limits.acceptPause)
    }

    /// Leaves new connections in the kernel's queue for a while, in milliseconds, at least 1.
    private func pauseAccepting(for time: Duration) {
        uv_poll_stop(poll)
        let milliseconds = UInt64(max(1, time.roundedMilliseconds))
        uv_timer_start(pause, { Listener.from($0!.pointee.data).resume() }, milliseconds, 0)
    }

    func close() {
        for (socket, count) in proxied.values {
            socket.cancel()
            count.leave()
        }
        proxied = [:]
        uv_poll_stop(poll)
        uv_timer_stop(pause)
        closeAndFree(poll)
        closeAndFree(pause)
        Glibc.close(descriptor)
        if spare >= 0 { Glibc.close(spare) }
    }
}

/// Answers a connection beyond the limit with 503, whatever the request, and closes it.
final class Refusal: ConnectionHandler {
    static let answer = Array(
        ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
            + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body).utf8)
    private static let body =
        #"{"type":"about:blank","title":"Service Unavailable","status":503,"code":"too_many_connections","#
        + #""detail":"The server has reached its maximum number of connections. Try again later."}"#

    init(of connection: Connection) {
        connection.write(Self.answer)
        connection.finish()
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {}
    func drained(_ connection: Connection) {}
    func deadlineReached(_ connection: Connection) {}
    func shuttingDown(_ connection: Connection) {}
    func closed(_ connection: Connection) {}
}

/// The options of one listening address of a ``LoopGroup``.
public struct ListenerOptions: Sendable {
    /// True if connections are encrypted. Only a group with a certificate can encrypt.
    public var isSecure: Bool
    /// Maximum number of connections on this address, apart from the group's limit; `nil` to count towards that.
    public var connections: Int?
    /// The balancers whose connections begin with a PROXY protocol header. They must send one, and it is trusted.
    /// Connections from other addresses must not send one.
    public var proxies: [IPRange]
    /// Called on a loop if a balancer's connection is closed because its header is missing or malformed. The arguments
    /// are the balancer's address and the reason.
    public var onProxyFailure: @Sendable (_ address: String, _ reason: String) -> Void
    /// Creates the handler of a connection beyond the limit, on its loop. It should end the connection soon. Each
    /// listener keeps up to ``TransportLimits/refusals`` such connections, and none if connections are encrypted.
    public var refusal: @Sendable (Connection) -> any ConnectionHandler

    /// Creates options with the usual defaults.
    public init(
        isSecure: Bool, connections: Int? = nil, proxies: [IPRange] = [],
        onProxyFailure: @escaping @Sendable (String, String) -> Void = { _, _ in },
        refusal: (@Sendable (Connection) -> any ConnectionHandler)? = nil
    ) {
        self.isSecure = isSecure
        self.connections = connections
        self.proxies = proxies
        self.onProxyFailure = onProxyFailure
        self.refusal = refusal ?? { Refusal(of: $0) }
    }
}
