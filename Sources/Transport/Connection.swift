import CLibwebsockets
import Glibc

/// One connection, plain or TLS, on the loop that serves it.
///
/// Not Sendable: it is used on its loop only. What comes from elsewhere is posted to the loop first. After the end of
/// the connection all calls are harmless and do nothing.
public final class Connection {
    /// Where a connection is between its first byte and its end.
    private enum State {
        /// Bytes come and go.
        case open
        /// Our last words are on their way to the kernel.
        case finishing
        /// Our sending side is closed; what the client still sends is thrown away.
        case lingering
        /// The socket is to be destroyed when nothing of the connection is on the stack.
        case aborting
        case closed
    }

    // What a write needs is in front, side by side.

    // The socket as libwebsockets knows it; valid from adoption until `didClose`, which clears it.
    private var wsi: OpaquePointer?
    /// The socket, when its bytes are those that are written; `nil` when the library encrypts them.
    private var plainSocket: Int32? { didSet { updateOutlet() } }
    private var state = State.open { didSet { updateOutlet() } }
    /// What encrypts, where we are the client.
    var session: ClientSession?
    private var stall: Stall? { didSet { updateOutlet() } }
    /// The bytes that the library keeps until the client takes them.
    private var unsent: ByteBudget.Share
    /// Whether ``Loop/push(_:to:)`` may write. Who serves the connection says when, and when no more.
    public var takesPushes = false { didSet { updateOutlet() } }

    /// The loop that serves this connection.
    public unowned let loop: Loop
    /// What serves this connection. A handler replaces itself by another when the protocol changes (an upgrade).
    public var handler: (any ConnectionHandler)?
    /// Whether the connection is encrypted.
    public let isSecure: Bool
    /// The address that the connection comes from, without its port: that of the peer, or the one that a trusted balancer
    /// has told by the PROXY protocol.
    public let peer: String
    /// The loop's number for this connection, never reused.
    public let id: UInt64
    /// Where the loop's table holds this connection.
    let slot: Int

    /// The bound on connections that this one counts against; `nil` for none.
    private let place: Gate?
    /// Calls of the library on this socket that have not returned: it must not be destroyed under them.
    private var depth = 0
    private var holdsReading = false
    /// Whether the loop has it among its ``Regulars``.
    var isRegular = false
    private var reading = true
    /// Makes the handler when there is somebody to serve: after the TLS handshake, if there is one.
    private var makeHandler: ((Connection) -> any ConnectionHandler)?

    /// The tick at which the handler is to be told, or when lingering, at which it ends.
    private var deadline: Int?
    /// The earliest tick at which the wheel looks at us.
    private var scheduled: Int?

    init(loop: Loop, slot: Int, id: UInt64, peer: String, isSecure: Bool, place: Gate?) {
        self.loop = loop
        self.slot = slot
        self.id = id
        self.peer = peer
        self.isSecure = isSecure
        self.place = place
        unsent = ByteBudget.Share(of: loop.unsent)
    }

    /// Who has ended a connection, or what.
    public enum End: Sendable, CustomStringConvertible {
        /// The client, or the network between.
        case client
        /// We, in good order.
        case server
        /// We, because the client took nothing of what it was sent for too long.
        case stalled
        /// We, because there was no room to keep what the client had not taken yet.
        case unsent

        /// The same in words, for a log.
        public var description: String {
            switch self {
            case .client: "the client ended the connection"
            case .server: "the server ended the connection"
            case .stalled: "the client took nothing for too long"
            case .unsent: "too much waited for slow clients"
            }
        }
    }

    /// Who has ended the connection, or will have; to be asked when it is closed.
    public private(set) var end = End.client

    /// Why the encryption of a connection of our own has failed, if it has.
    public var failure: String? { session?.failure }

    /// Whether bytes may be written and may arrive.
    public var isOpen: Bool { state == .open }

    /// Whether some of what was written is still waiting for the kernel. Nothing more should be written then:
    /// ``ConnectionHandler/drained(_:)`` says when.
    public var isCongested: Bool { stall != nil }

    // MARK: Writing

    /// Sends bytes: to the kernel at once, what it does not take now is kept and sent when it does. If so much may not be
    /// kept (``TransportLimits/unsentBytes``), the connection is aborted.
    ///
    /// - Parameter bytes: any number; copied as far as needed.
    public func write(_ bytes: Span<UInt8>) {
        guard state == .open, !bytes.isEmpty else { return }
        if let session { encrypt(bytes, by: session) } else { send(bytes) }
    }

    /// Sends bytes as they are.
    func send(_ bytes: Span<UInt8>) {
        guard let wsi, state == .open else { return }
        bytes.withUnsafeBufferPointer { buffer in
            guard let rest = sendAtOnce(UnsafeRawBufferPointer(buffer)) else { return abort() }
            if rest.isEmpty { return }
            // lws_write reads the bytes only, in its raw role, though its parameter is not const.
            let start = UnsafeMutableRawPointer(mutating: rest.baseAddress!).assumingMemoryBound(to: UInt8.self)
            if lws_write(wsi, start, rest.count, backscroll_write_raw) < 0 {
                abort()
            } else if lws_partial_buffered(wsi) != 0 {
                // The library does not say how much of it is left.
                guard unsent.resize(to: unsent.count + rest.count) else {
                    end = .unsent
                    return abort()
                }
                congest()
            }
        }
    }

    /// Hands bytes to the kernel without the library, when it has none of its own to go first. A thousand writes touch a
    /// thousand sockets of the library's otherwise, none of which is in the processor's cache.
    ///
    /// - Returns: what is left; `nil` when the socket is broken.
    private func sendAtOnce(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let plainSocket, stall == nil else { return bytes }
        let sent = Glibc.send(plainSocket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if sent < 0 { return errno == EAGAIN || errno == EINTR ? bytes : nil }
        return UnsafeRawBufferPointer(rebasing: bytes[sent...])
    }

    /// Sends an array's bytes.
    public func write(_ bytes: [UInt8]) {
        write(bytes.span)
    }

    /// The library has kept some of the bytes. While it does, it does not read, but polls for reading all the same,
    /// which would spin; so reading is switched off as well.
    private func congest() {
        guard stall == nil else { return }
        let look = nextLook
        stall = Stall(acknowledged: acknowledgedBytes, nextLook: look)
        updateReading()
        schedule(at: look)
    }

    /// The socket takes bytes.
    func didBecomeWriteable() {
        establish()
        guard stall != nil, let wsi else { return }
        // The library has just read too, the handler has written, and the library forgets that it has bytes to send.
        guard lws_partial_buffered(wsi) == 0 else { return _ = lws_callback_on_writable(wsi) }
        stall = nil
        _ = unsent.take()
        if state == .finishing {
            halfClose()
        } else if state == .open {
            updateReading()
            handler?.drained(self)
        }
    }

    /// How many bytes the peer's kernel has acknowledged: what tells a slow connection from a dead one.
    private var acknowledgedBytes: UInt64 {
        guard let wsi else { return 0 }
        return backscroll_bytes_acknowledged(lws_get_socket_fd(wsi))
    }

    /// When to look whether a stalled client has taken something.
    private var nextLook: Int { loop.tick(after: loop.limits.noProgress / Stall.looks) }

    /// What ``Loop/push(_:to:)`` knows the connection by.
    public var outlet: Outlet { Outlet(slot: slot, id: id) }

    private func updateOutlet() {
        let isOpen = takesPushes && state == .open && stall == nil
        loop.setOutlet(of: self, to: isOpen ? plainSocket : nil)
    }

    // MARK: Reading

    /// Whether bytes are to be read. Off, the connection's end is not noticed either, so that a client which has
    /// closed its sending side still gets the answer that it waits for.
    public var isReadingPaused: Bool {
        get { holdsReading }
        set {
            guard state == .open else { return }
            holdsReading = newValue
            updateReading()
        }
    }

    /// Says that the client asks again and again: in a turn of the loop that takes long, a look is taken whether it has. Not where
    /// the library decrypts.
    public func asksAgain() {
        guard !isRegular, plainSocket != nil else { return }
        isRegular = true
        loop.addRegular(self)
    }

    /// Reads what has come, past the library, which will find less, or nothing. Its end or an error is left to be found by
    /// the library.
    ///
    /// - Parameter buffer: for the bytes, until this returns.
    func readNow(into buffer: UnsafeMutableRawBufferPointer) {
        guard depth == 0, state == .open, reading, session == nil, let plainSocket else { return }
        let count = recv(plainSocket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0, let start = buffer.baseAddress else { return }
        // The caller's buffer outlives the span, which does not leave the call.
        let bytes = Span<UInt8>(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: count)
        if !enter({ didReceive(bytes) }) { loop.doom(self) }
    }

    private func updateReading() {
        let wanted = !(holdsReading || isCongested)
        guard let wsi, wanted != reading else { return }
        reading = wanted
        lws_rx_flow_control(wsi, wanted ? 1 : 0)
    }

    // MARK: Time

    /// Has the handler told when this much time has passed, instead of any time set before; `nil` for never.
    ///
    /// Times are kept in ticks of 100 ms, and count from the beginning of the loop's turn: the call comes up to two of them
    /// late, and early by as long as the turn has lasted.
    public func setDeadline(_ after: Duration?) {
        guard state == .open else { return }
        deadline = after.map(loop.tick(after:))
        if let deadline { schedule(at: deadline) }
    }

    private func schedule(at tick: Int) {
        if let scheduled, scheduled <= tick { return }
        scheduled = tick
        loop.wake(self, at: tick)
    }

    /// The wheel has reached a tick at which this connection wanted to be looked at.
    func tickReached(_ tick: Int) {
        guard scheduled == tick, state != .aborting, state != .closed else { return }
        scheduled = nil
        guard isProgressing else {
            end = .stalled
            return abort()
        }
        if let due = deadline, due <= loop.now {
            deadline = nil
            if state == .lingering { return abort() }
            handler?.deadlineReached(self)
        }
        if let look = stall?.nextLook { schedule(at: look) }
        if let deadline { schedule(at: deadline) }
    }

    /// Whether the client takes what it is sent.
    private var isProgressing: Bool {
        guard let look = stall?.nextLook, look <= loop.now else { return true }
        return stall?.look(acknowledged: acknowledgedBytes, nextLook: nextLook) ?? true
    }

    /// Has the system end the connection when what was sent has not been acknowledged for this long, as by a client whose
    /// machine is gone: `TCP_USER_TIMEOUT`, which tells of nobody while nothing is sent. In milliseconds.
    public func setAcknowledgementTimeout(_ timeout: Duration) {
        guard let wsi else { return }
        var milliseconds = UInt32(clamping: max(1, timeout.roundedMilliseconds))
        setsockopt(
            lws_get_socket_fd(wsi), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
            socklen_t(MemoryLayout<UInt32>.size))
    }

    // MARK: Ending

    /// Ends the connection in good order: what was written goes out, then the sending side is closed, and what the
    /// client still sends is thrown away until it closes too, so that it can read our last words (RFC 9112, 9.6).
    ///
    /// The handler is told nothing more but that the connection is closed.
    public func finish() {
        guard state == .open else { return }
        session?.sayGoodbye()
        flushSession()
        guard state == .open else { return }
        state = .finishing
        end = .server
        deadline = nil
        if !isCongested { halfClose() }
    }

    private func halfClose() {
        guard let wsi else { return }
        if let session = lws_get_ssl(wsi) {
            ERR_clear_error()
            if SSL_shutdown(session) < 0, SSL_want(session) == SSL_WRITING {
                // The kernel has no room for the close_notify; we come back when it has.
                congest()
                lws_callback_on_writable(wsi)
                return
            }
        }
        state = .lingering
        shutdown(lws_get_socket_fd(wsi), Int32(SHUT_WR))
        holdsReading = false
        updateReading()
        let end = loop.tick(after: loop.limits.linger)
        deadline = end
        schedule(at: end)
    }

    /// Ends the connection at once. Its handler hears of it when the current call has returned, not within it.
    public func abort() {
        guard state != .closed, state != .aborting else { return }
        state = .aborting
        if depth == 0 { loop.doom(self) }
    }

    /// Has the library destroy the socket, which calls `didClose`.
    func destroy() {
        guard state != .closed, let wsi else { return }
        state = .aborting
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, LWS_TO_KILL_SYNC)
    }

    /// The server is stopping.
    func shuttingDown() {
        guard let handler else { return abort() }
        if state == .open { handler.shuttingDown(self) }
    }

    // MARK: The library's side

    func attach(_ wsi: OpaquePointer) {
        self.wsi = wsi
        guard let session = lws_get_ssl(wsi) else { return plainSocket = lws_get_socket_fd(wsi) }
        // The library has a callback for this, which comes to its latest context only. The pointer is valid until
        // `didClose`, which takes the callback away.
        SSL_set_ex_data(session, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_info_callback(session) { session, event, _ in
            guard event & SSL_CB_HANDSHAKE_DONE != 0, let this = SSL_get_ex_data(session, 0) else { return }
            Unmanaged<Connection>.fromOpaque(this).takeUnretainedValue().didFinishHandshake()
        }
    }

    /// Begins to serve: at once, or when the TLS handshake has ended.
    func begin(_ makeHandler: @escaping (Connection) -> any ConnectionHandler) {
        self.makeHandler = makeHandler
        // The library has tried the handshake already, and a fast client may have brought it to its end.
        guard isSecure, let wsi, let session = lws_get_ssl(wsi), SSL_is_init_finished(session) == 0 else {
            return establish()
        }
    }

    private func didFinishHandshake() {
        // OpenSSL is in the middle of something: we come back when it has returned.
        if let wsi { lws_callback_on_writable(wsi) }
    }

    /// There is somebody to serve, from now on if not before.
    private func establish() {
        guard let makeHandler, state == .open else { return }
        self.makeHandler = nil
        // The library's clock has run for the handshake, and would go on.
        if let wsi, isSecure { lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0) }
        handler = makeHandler(self)
    }

    /// Runs a callback of the library; `false` tells the library to destroy the socket.
    func enter(_ body: () -> Void) -> Bool {
        depth += 1
        body()
        // A thousand sockets may be ready behind this one.
        loop.didServeSocket()
        depth -= 1
        return state != .aborting
    }

    func didReceive(_ bytes: Span<UInt8>) {
        establish()
        guard state == .open else { return }
        if let session { decrypt(bytes, by: session) } else { handler?.received(bytes, on: self) }
    }

    func didClose() {
        guard state != .closed else { return }
        state = .closed
        if let wsi, let session = lws_get_ssl(wsi) { SSL_set_info_callback(session, nil) }
        wsi = nil
        plainSocket = nil
        _ = unsent.take()
        place?.leave()
        loop.forget(self)
        handler?.closed(self)
        handler = nil
        makeHandler = nil
    }
}
