import CLibwebsockets
import Glibc

/// A plain or TLS connection on the loop that serves it.
///
/// Not Sendable: use it on its loop only. Other threads must first post to the loop. After the connection has ended,
/// all calls do nothing.
public final class Connection {
    enum State {
        /// Bytes are sent and received.
        case open
        /// The last bytes are being sent.
        case finishing
        /// Our sending side is closed. Bytes that the client still sends are discarded.
        case lingering
        /// The socket is destroyed once no call of the connection is on the stack.
        case aborting
        case closed
    }

    // The fields that a write uses come first, next to each other.

    // The library's handle of the socket. Valid from adoption until `didClose`, which clears it.
    private(set) var wsi: OpaquePointer?
    /// The socket, if written bytes are sent unchanged; `nil` if the library encrypts them.
    private var plainSocket: Int32? { didSet { updateOutlet() } }
    private(set) var state = State.open { didSet { updateOutlet() } }
    /// The TLS session of an outgoing connection.
    var session: ClientSession?
    var stall: Stall? { didSet { updateOutlet() } }
    /// The bytes that the library keeps until the client reads them.
    private var unsent: ByteBudget.Share
    /// True if ``Loop/push(_:to:)`` may write. The handler's owner sets it.
    public var takesPushes = false { didSet { updateOutlet() } }
    // Flags are next to each other, since each one alone would take eight bytes of every connection.
    /// True if the connection is encrypted.
    public let isSecure: Bool
    private var holdsReading = false
    /// True from ``awaitTurn()`` until the turn comes.
    public internal(set) var isAwaitingTurn = false
    private var reading = true

    /// The loop that serves this connection.
    public unowned let loop: Loop
    /// The handler of this connection. A handler replaces itself when the protocol changes (an upgrade).
    public var handler: (any ConnectionHandler)? {
        get { currentHandler }
        set { currentHandler = newValue }
    }
    // Private, because each access from another module to a stored property would be checked for exclusivity.
    private var currentHandler: (any ConnectionHandler)?
    /// The client's address without its port: that of the peer, or the one that a trusted balancer sent in the PROXY
    /// protocol.
    public let peer: String
    /// The loop's number of this connection, never reused.
    public let id: UInt64
    /// The slot of this connection in the loop's table.
    let slot: Int

    /// The bound on connections that includes this one; `nil` for none.
    private let count: ConnectionCount?
    /// Number of library calls on this socket that have not returned. The socket must not be destroyed before they do.
    private var depth = 0
    /// Creates the handler once the connection is established: after the TLS handshake, if there is one.
    private var makeHandler: ((Connection) -> any ConnectionHandler)?

    /// The tick at which the handler is called, or at which lingering ends.
    var deadline: Int?
    /// The earliest tick at which the wheel returns this connection.
    var scheduled: Int?

    init(loop: Loop, slot: Int, id: UInt64, peer: String, isSecure: Bool, count: ConnectionCount?) {
        self.loop = loop
        self.slot = slot
        self.id = id
        self.peer = peer
        self.isSecure = isSecure
        self.count = count
        unsent = ByteBudget.Share(of: loop.unsent)
    }

    /// The cause of a connection's end.
    public enum End: Sendable, CustomStringConvertible {
        /// The client or the network.
        case client
        /// A clean close by the server.
        case server
        /// The server, because the client made no progress for too long.
        case stalled
        /// The server, because the budget for unsent bytes was exhausted.
        case unsent

        /// The cause in words, for a log.
        public var description: String {
            switch self {
            case .client: "the client ended the connection"
            case .server: "the server ended the connection"
            case .stalled: "the client took nothing for too long"
            case .unsent: "too much waited for slow clients"
            }
        }
    }

    /// The cause of the connection's end. It is final once the connection is closed.
    public internal(set) var end = End.client

    /// The reason why TLS failed on an outgoing connection, if it did.
    public var failure: String? { session?.failure }

    /// True if bytes may be written and received.
    public var isOpen: Bool { state == .open }

    /// True while written bytes wait for the kernel. Write nothing more until ``ConnectionHandler/drained(_:)`` is
    /// called.
    public var isCongested: Bool { stall != nil }

    // MARK: Writing

    /// Sends bytes. The kernel takes what it can at once, and the rest is kept and sent later. If the rest does not fit
    /// within ``TransportLimits/unsentBytes``, which all connections share, the connection is aborted.
    ///
    /// - Parameter bytes: any number of bytes; unsent ones are copied.
    public func write(_ bytes: Span<UInt8>) {
        guard state == .open, !bytes.isEmpty else { return }
        if let session { encrypt(bytes, by: session) } else { send(bytes) }
    }

    /// Sends bytes without encrypting them.
    func send(_ bytes: Span<UInt8>) {
        guard let wsi, state == .open else { return }
        bytes.withUnsafeBufferPointer { buffer in
            guard let rest = sendAtOnce(UnsafeRawBufferPointer(buffer)) else { return abort() }
            if rest.isEmpty { return }
            // In its raw role lws_write only reads the bytes, though its parameter is not const.
            let start = UnsafeMutableRawPointer(mutating: rest.baseAddress!).assumingMemoryBound(to: UInt8.self)
            if lws_write(wsi, start, rest.count, backscroll_write_raw) < 0 {
                abort()
            } else if lws_partial_buffered(wsi) != 0 {
                // The library does not report how many of the bytes are still unsent.
                guard unsent.resize(to: unsent.count + rest.count) else {
                    end = .unsent
                    return abort()
                }
                congest()
            }
        }
    }

    /// Sends bytes to the kernel directly if the library has no unsent ones. The library would read its own data of
    /// each socket, which is a cache miss per connection when writing to many.
    ///
    /// - Returns: the unsent rest; `nil` if the socket is broken.
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

    /// Marks the connection as congested: the library has kept some of the bytes. Until they are sent the library does
    /// not read, but still polls for reading, which would spin. Reading is therefore switched off as well.
    private func congest() {
        guard stall == nil else { return }
        let look = nextLook
        stall = Stall(acknowledged: acknowledgedBytes, nextLook: look)
        updateReading()
        schedule(at: look)
    }

    /// Continues sending after the socket has become writable.
    func didBecomeWriteable() {
        establish()
        guard stall != nil, let wsi else { return }
        // If the library has also read in this call, and the handler has written, the library forgets that it has
        // bytes to send.
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

    /// The number of this connection for ``Loop/push(_:to:)``, which finds the socket without accessing the connection.
    public var outlet: UInt64 { OutletTable.outlet(slot: slot, id: id) }

    /// Opens the outlet, or closes it. Every property that decides about it calls this when it changes.
    private func updateOutlet() {
        let isOpen = takesPushes && state == .open && stall == nil
        loop.outlets.set(outlet, to: isOpen ? plainSocket : nil)
    }

    // MARK: Reading

    /// True while reading is paused. The end of the connection is then not noticed either, so a client that has closed
    /// its sending side still gets its answer.
    public var isReadingPaused: Bool {
        get { holdsReading }
        set {
            guard state == .open else { return }
            holdsReading = newValue
            updateReading()
        }
    }

    func updateReading() {
        let wanted = !(holdsReading || isAwaitingTurn || isCongested)
        guard let wsi, wanted != reading else { return }
        reading = wanted
        lws_rx_flow_control(wsi, wanted ? 1 : 0)
    }

    // MARK: Ending

    /// Closes the connection cleanly. Written bytes are sent, then the sending side is closed. Bytes that the client
    /// still sends are discarded until it closes too, so that it can read the last bytes (RFC 9112, 9.6).
    ///
    /// The handler is only told that the connection is closed.
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
                // The kernel has no room for the close_notify: retry when it has.
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

    /// Ends the connection at once. The handler is told after the current call has returned.
    public func abort() {
        guard state != .closed, state != .aborting else { return }
        state = .aborting
        if depth == 0 { loop.destroyAtEndOfTurn(self) }
    }

    /// Makes the library destroy the socket, which calls `didClose`.
    func destroy() {
        guard state != .closed, let wsi else { return }
        state = .aborting
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, LWS_TO_KILL_SYNC)
    }

    func shuttingDown() {
        guard let handler else { return abort() }
        if state == .open { handler.shuttingDown(self) }
    }

    // MARK: Callbacks of the library

    func attach(_ wsi: OpaquePointer) {
        self.wsi = wsi
        guard let session = lws_get_ssl(wsi) else { return plainSocket = lws_get_socket_fd(wsi) }
        // The library's own callback for this only reaches its latest context. The pointer is valid until `didClose`,
        // which removes the callback.
        SSL_set_ex_data(session, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_info_callback(session) { session, event, _ in
            guard event & SSL_CB_HANDSHAKE_DONE != 0, let this = SSL_get_ex_data(session, 0) else { return }
            let connection = Unmanaged<Connection>.fromOpaque(this).takeUnretainedValue()
            // OpenSSL is in the middle of a call: continue after it has returned.
            if let wsi = connection.wsi { lws_callback_on_writable(wsi) }
        }
    }

    /// Starts serving: at once, or after the TLS handshake.
    func begin(_ makeHandler: @escaping (Connection) -> any ConnectionHandler) {
        self.makeHandler = makeHandler
        // The library has already tried the handshake, which a fast client may have completed.
        guard isSecure, let wsi, let session = lws_get_ssl(wsi), SSL_is_init_finished(session) == 0 else {
            return establish()
        }
    }

    /// Creates the handler, unless it exists already.
    private func establish() {
        guard let makeHandler, state == .open else { return }
        self.makeHandler = nil
        // The library's timeout of the handshake would otherwise continue.
        if let wsi, isSecure { lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0) }
        handler = makeHandler(self)
    }

    /// Runs a callback of the library. Returns `false` if the library must destroy the socket.
    func enter(_ body: () -> Void) -> Bool {
        depth += 1
        body()
        // The requests of the next socket begin later than this.
        loop.reading = nil
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
        count?.leave()
        loop.forget(self)
        handler?.closed(self)
        handler = nil
        makeHandler = nil
    }
}
