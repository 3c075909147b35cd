import CLibwebsockets
import Glibc

/// A listening socket on a loop: accepts, or refuses politely what there is no place for.
final class Listener {
    private unowned let loop: Loop
    private let descriptor: Int32
    private let isSecure: Bool
    private let makeHandler: (Connection) -> any ConnectionHandler
    // libuv's structures: initialised in `init`, freed by `close` when libuv has let go of them.
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let pause: UnsafeMutablePointer<uv_timer_t>
    /// Kept open so that, out of descriptors, one can be had to accept and refuse with.
    private var spare: Int32
    /// How many refused connections are open for their clients to read the refusal.
    fileprivate(set) var refusals = 0

    init(
        descriptor: Int32, loop: Loop, uv: UnsafeMutablePointer<uv_loop_t>, isSecure: Bool,
        makeHandler: @escaping (Connection) -> any ConnectionHandler
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.isSecure = isSecure
        self.makeHandler = makeHandler
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

    // The pointer is the listener's own, set in `init`; its loop holds it until `close`, after which libuv calls no more.
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
                loop.didServeSocket()
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
        guard loop.gate.enter() else { return refuse(socket, from: address) }
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var size = Int32(loop.limits.sendBuffer)
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        loop.adopt(socket, peer: address.host, secure: isSecure, counted: true, handler: makeHandler)
    }

    /// Says 503 and closes our side, but not at once the client's: closing a socket with an unread request in it would
    /// take the answer back.
    private func refuse(_ socket: Int32, from address: SocketAddress) {
        // A TLS client could read it after a handshake only, for which there is no place.
        guard !isSecure, refusals < loop.limits.refusals else { return dismiss(socket) }
        loop.adopt(socket, peer: address.host, secure: false, counted: false) { Refusal(of: $0, by: self) }
    }

    /// Says 503 if that is possible, and closes.
    private func dismiss(_ socket: Int32) {
        if !isSecure {
            _ = Refusal.answer.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        Glibc.close(socket)
    }

    /// Out of descriptors: the queue of the waiting is emptied as far as it goes with the one that we keep for this,
    /// and then the listener rests, for it would be called again at once.
    private func shed() {
        for _ in 0..<loop.limits.acceptsPerTurn where spare >= 0 {
            Glibc.close(spare)
            var address = sockaddr_storage()
            let accepted = backscroll_accept(descriptor, &address)
            if accepted >= 0 {
                loop.gate.refuse()
                dismiss(accepted)
            }
            spare = Self.openSpare()
            if accepted < 0 { break }
        }
        pauseAccepting(for: loop.limits.acceptPause)
    }

    /// Leaves those who come in the kernel's queue for a while, in milliseconds, 1 at least.
    private func pauseAccepting(for time: Duration) {
        uv_poll_stop(poll)
        let milliseconds = UInt64(max(1, time.roundedMilliseconds))
        uv_timer_start(pause, { Listener.from($0!.pointee.data).resume() }, milliseconds, 0)
    }

    /// Stops listening.
    func close() {
        uv_poll_stop(poll)
        uv_timer_stop(pause)
        // libuv keeps its handles until it has called back; nothing of ours is used then.
        uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle!).deallocate()
        }
        uv_close(UnsafeMutableRawPointer(pause).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle!).deallocate()
        }
        Glibc.close(descriptor)
        if spare >= 0 { Glibc.close(spare) }
    }
}

/// What serves a connection for which there is no place: it says so and ends.
final class Refusal: ConnectionHandler {
    static let answer = Array(
        ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
            + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body).utf8)
    private static let body =
        #"{"type":"about:blank","title":"Service Unavailable","status":503,"code":"too_many_connections","#
        + #""detail":"the server has as many connections as it may have"}"#

    private let listener: Listener

    init(of connection: Connection, by listener: Listener) {
        self.listener = listener
        listener.refusals += 1
        connection.write(Self.answer)
        connection.finish()
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {}
    func drained(_ connection: Connection) {}
    func deadlineReached(_ connection: Connection) {}
    func shuttingDown(_ connection: Connection) {}

    func closed(_ connection: Connection) {
        listener.refusals -= 1
    }
}
