import CLibwebsockets
import Glibc
import Synchronization

/// The libwebsockets context of one loop: one vhost, one protocol, in the library's `raw-skt` role.
///
/// The library provides TLS, buffered writes, and readiness notifications of sockets. It does not see HTTP or
/// WebSocket.
final class LibraryContext {
    /// Maximum plaintext of a TLS record (RFC 8446, 5.1). A smaller read would leave decrypted bytes in OpenSSL, which
    /// no socket event reports.
    static let recordSize = 16 * 1024

    // Creating a context loads plugins and initializes OpenSSL. The library locks neither.
    private static let creation = Mutex(())

    // Freed after the context; the library clears it when it frees the context.
    private let context: UnsafeMutablePointer<OpaquePointer?>
    private let vhost: OpaquePointer
    // The library keeps pointers to these during the life of the context; they are freed after it.
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private let foreignLoop: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let shared: UnsafeMutablePointer<Shared>
    private let tls: ServerTLS?
    /// The certificate for new connections. Use it on the loop's thread only.
    var certificate: Certificate?

    private let wakeup: WakeupDescriptor

    /// The data that callbacks find through the library's context.
    fileprivate struct Shared {
        /// The libuv loop, whose data is the ``Loop``.
        let uv: UnsafeMutablePointer<uv_loop_t>
        /// OpenSSL's context of the vhost. The library passes it while it creates the vhost, and it lives as long as
        /// the vhost.
        var tlsContext: OpaquePointer?

        /// Returns the data of a socket's context, which outlives the socket.
        static func of(_ wsi: OpaquePointer) -> UnsafeMutablePointer<Shared>? {
            lws_context_user(lws_get_context(wsi))?.assumingMemoryBound(to: Shared.self)
        }
    }

    init(uv: UnsafeMutablePointer<uv_loop_t>, limits: TransportLimits, tls: ServerTLS?) throws(TransportError) {
        guard WakeupDescriptor.areLeft() else {
            throw .unavailable("the process has no free file descriptors; raise the limit (ulimit -n)")
        }
        let pointer = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
        pointer.initialize(to: nil)
        context = pointer
        protocols = .allocate(capacity: 2)
        protocols.initialize(repeating: lws_protocols(), count: 2)
        // A literal has static storage, so the library may keep the pointer.
        let name: StaticString = "backscroll"
        protocols[0].name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        protocols[0].callback = handleEvent
        // Maximum size of one write to the kernel. With less the library would copy the rest and wait for a turn.
        protocols[0].tx_packet_size = 1 << 20
        foreignLoop = .allocate(capacity: 1)
        foreignLoop.initialize(to: UnsafeMutableRawPointer(uv))
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared(uv: uv))
        self.tls = tls
        certificate = tls?.certificate

        var info = lws_context_creation_info()
        info.port = Int32(CONTEXT_PORT_NO_LISTEN_SERVER)
        info.protocols = UnsafePointer(protocols)
        info.options = backscroll_use_libuv
        info.foreign_loops = foreignLoop
        // The library reserves LWS_PRE (16) bytes of its buffer.
        info.pt_serv_buf_size = UInt32(max(limits.readSize, Self.recordSize)) + 16
        info.user = UnsafeMutableRawPointer(shared)
        info.pcontext = pointer
        // "No change". The fields are signed in libwebsockets 4.1, and unsigned from 4.3 on.
        info.gid = .init(truncatingIfNeeded: -1)
        info.uid = .init(truncatingIfNeeded: -1)
        // The library's timer only runs during the TLS handshake: `Connection` then stops it.
        info.timeout_secs = UInt32(max(1, (limits.handshake.roundedMilliseconds + 999) / 1000))

        if let tls {
            info.options |= backscroll_init_tls | backscroll_create_tls_context
            // Without it the library would offer HTTP/2. A literal has static storage, so the library may keep the
            // pointer.
            let alpn: StaticString = "http/1.1"
            info.alpn = UnsafeRawPointer(alpn.utf8Start).assumingMemoryBound(to: CChar.self)
            // The context for the library's own clients, which are not used. By default the library creates one with
            // all of the system's certificates. With more than one loop, that one would leak.
            info.provided_client_ssl_ctx = tls.certificate.context
        }

        var created: OpaquePointer?
        Self.creation.withLock { _ in
            LibraryLog.install()
            pointer.pointee = lws_create_context(&info)
            created = pointer.pointee.flatMap { lws_get_vhost_by_name($0, "default") }
        }
        guard let created, let wakeup = WakeupDescriptor(on: uv) else {
            // Partly created handles may still be on the libuv loop and point here, so nothing is freed.
            throw .unavailable(
                "libwebsockets could not create a context; is its libuv plugin (libwebsockets-evlib-uv) installed?")
        }
        self.wakeup = wakeup
        vhost = created
        if let tls, let context = shared.pointee.tlsContext { tls.prepare(context, for: self) }
    }

    /// Replaces the keys of session tickets, starting with the next handshake. Call it on the loop's thread, the only
    /// one that uses this OpenSSL context.
    func use(ticketKeys: [UInt8]) {
        guard let context = shared.pointee.tlsContext else { return }
        backscroll_ssl_set_ticket_keys(context, ticketKeys)
    }

    /// Passes a connected socket to the library, which closes it if it refuses it.
    func adopt(_ descriptor: Int32, secure: Bool, for connection: Connection) -> Bool {
        // The connection is in its loop's table until `didClose`, which is the library's last callback for it.
        let opaque = Unmanaged.passUnretained(connection).toOpaque()
        return backscroll_adopt_socket(vhost, descriptor, secure ? 1 : 0, opaque) != nil
    }

    /// Destroys the context. It takes several calls, with turns of the loop in between in which libuv closes its
    /// handles.
    ///
    /// - Returns: true if everything is freed. If false, nothing of the loop may be used any more.
    func destroy(turn: () -> Void) -> Bool {
        let isDestroyed = Self.creation.withLock { _ in
            lws_context_destroy(context.pointee)
            // If another thread has taken the number in the meantime, the second close must not happen.
            guard !backscroll_closes_wakeup_twice() || wakeup.take() else { return false }
            turn()
            while let context = context.pointee {
                lws_context_destroy(context)
                turn()
            }
            return true
        }
        guard isDestroyed else { return false }
        if backscroll_leaves_wakeup_open() { wakeup.closeIfOpen() }
        protocols.deallocate()
        foreignLoop.deallocate()
        shared.deallocate()
        context.deallocate()
        return true
    }
}

/// Handles all of the library's callbacks for a socket.
///
/// - Returns: 0, or -1 to make the library destroy the socket.
private func handleEvent(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    switch reason {
    case LWS_CALLBACK_RAW_ADOPT, LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE, LWS_CALLBACK_RAW_CLOSE:
        guard let wsi, let opaque = lws_get_opaque_user_data(wsi) else { return 0 }
        // Set at adoption to a connection in its loop's table; cleared below when it closes.
        let connection = Unmanaged<Connection>.fromOpaque(opaque).takeUnretainedValue()
        switch reason {
        case LWS_CALLBACK_RAW_ADOPT:
            connection.attach(wsi)
            return 0
        case LWS_CALLBACK_RAW_RX:
            // The library's receive buffer, valid during the call; the span does not outlive it.
            let span = Span<UInt8>(_unsafeStart: bytes!.assumingMemoryBound(to: UInt8.self), count: count)
            return connection.enter { connection.didReceive(span) } ? 0 : -1
        case LWS_CALLBACK_RAW_WRITEABLE:
            return connection.enter { connection.didBecomeWriteable() } ? 0 : -1
        default:
            lws_set_opaque_user_data(wsi, nil)
            connection.didClose()
            return 0
        }
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        // `user` is the vhost's SSL_CTX here.
        guard let wsi, let user, let shared = LibraryContext.Shared.of(wsi) else { return 0 }
        shared.pointee.tlsContext = OpaquePointer(user)
        return 0
    default:
        return 0
    }
}

/// The log of libwebsockets, which has one logger per process.
public enum LibraryLog {
    /// The severity of a line.
    public enum Level: Sendable {
        /// A failure.
        case error
        /// A warning.
        case warning
    }

    /// A struct, because a closure stored directly in a mutex is wrapped once more by each read, without end.
    private struct Sink: Sendable {
        var write: @Sendable (Level, String) -> Void
    }

    private static let sink = Mutex(Sink { _, _ in })

    /// Sends the library's errors and warnings to `sink`, line by line, from any thread.
    public static func send(to newSink: @escaping @Sendable (Level, String) -> Void) {
        sink.withLock { $0.write = newSink }
    }

    // Set once: other threads may be logging when a further context is created.
    private static let installed: Void = lws_set_log_level(LLL_ERR | LLL_WARN) { level, line in
        guard let line else { return }
        var text = String(cString: line)
        while text.last?.isNewline == true { text.removeLast() }
        let current = LibraryLog.sink.withLock { $0 }
        current.write(level == LLL_ERR ? .error : .warning, text)
    }

    static func install() {
        installed
    }
}
