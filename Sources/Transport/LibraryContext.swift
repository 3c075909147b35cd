import CLibwebsockets
import Glibc
import Synchronization

/// The libwebsockets context of one loop: one vhost, one protocol, in the library's `raw-skt` role.
///
/// The library does what it is excellent at: TLS, buffered writes, and telling when a socket can be read or written.
/// It sees neither HTTP nor WebSocket.
final class LibraryContext {
    /// What a TLS record holds at most (RFC 8446, 5.1). Reading less at a time would leave decrypted bytes behind in
    /// OpenSSL, of which no socket tells.
    static let recordSize = 16 * 1024

    // Creating a context loads plugins and sets up OpenSSL, neither of which the library locks.
    private static let creation = Mutex(())

    // Freed after the context; the library clears the place when it frees that.
    private let context: UnsafeMutablePointer<OpaquePointer?>
    private let vhost: OpaquePointer
    // The library keeps pointers to these as long as the context lives; they are freed after it.
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private let foreignLoop: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let shared: UnsafeMutablePointer<Shared>
    private let tls: ServerTLS?
    /// What new connections are shown. On the loop's thread only.
    var certificate: Certificate?

    private let wakeup: WakeupDescriptor

    /// What callbacks find by the library's context.
    fileprivate struct Shared {
        /// Whose data is the ``Loop``.
        let uv: UnsafeMutablePointer<uv_loop_t>
        /// OpenSSL's context of the vhost, which the library tells while it makes the vhost; it lives as long as that.
        var tlsContext: OpaquePointer?

        /// That of a socket's context, which outlives the socket.
        static func of(_ wsi: OpaquePointer) -> UnsafeMutablePointer<Shared>? {
            lws_context_user(lws_get_context(wsi))?.assumingMemoryBound(to: Shared.self)
        }
    }

    init(uv: UnsafeMutablePointer<uv_loop_t>, limits: TransportLimits, tls: ServerTLS?) throws(TransportError) {
        guard WakeupDescriptor.areLeft() else { throw .unavailable("the system gives no more file descriptors") }
        let place = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
        place.initialize(to: nil)
        context = place
        protocols = .allocate(capacity: 2)
        protocols.initialize(repeating: lws_protocols(), count: 2)
        // A literal has static storage: the library keeps the pointer.
        let name: StaticString = "backscroll"
        protocols[0].name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        protocols[0].callback = handleEvent
        // What one write may hand to the kernel. Below it the library would copy the rest and wait for a turn.
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
        // The library sets LWS_PRE (16) bytes of its buffer aside.
        info.pt_serv_buf_size = UInt32(max(limits.readSize, Self.recordSize)) + 16
        info.user = UnsafeMutableRawPointer(shared)
        info.pcontext = place
        info.gid = -1
        info.uid = -1
        // The library's own clock runs during the TLS handshake only: `Connection` stops it then.
        info.timeout_secs = UInt32(max(1, (limits.handshake.roundedMilliseconds + 999) / 1000))

        if let tls {
            info.options |= backscroll_init_tls | backscroll_create_tls_context
            // HTTP/2 would be the library's answer, not ours. A literal has static storage, as above.
            let alpn: StaticString = "http/1.1"
            info.alpn = UnsafeRawPointer(alpn.utf8Start).assumingMemoryBound(to: CChar.self)
            // For clients of the library, which we have none of. One of its own, with all certificates of the system in
            // it, is 400 KB, and not given back when there is more than one loop.
            info.provided_client_ssl_ctx = tls.certificate.context
        }

        var created: OpaquePointer?
        Self.creation.withLock { _ in
            LibraryLog.install()
            place.pointee = lws_create_context(&info)
            created = place.pointee.flatMap { lws_get_vhost_by_name($0, "default") }
        }
        guard let created, let wakeup = WakeupDescriptor(on: uv) else {
            // What it had begun may still be on the libuv loop and point here, so nothing is freed.
            throw .unavailable("libwebsockets made no context; is its libuv plugin (libwebsockets-evlib-uv) installed?")
        }
        self.wakeup = wakeup
        vhost = created
        if let tls, let context = shared.pointee.tlsContext { tls.prepare(context, for: self) }
    }

    /// Has tickets be made and understood by these keys only, from the next handshake on. On the loop's thread, which is the
    /// only one that uses this context of OpenSSL.
    func use(ticketKeys: [UInt8]) {
        guard let context = shared.pointee.tlsContext else { return }
        backscroll_ssl_set_ticket_keys(context, ticketKeys)
    }

    /// Hands a connected socket to the library, which closes it when it refuses it.
    func adopt(_ descriptor: Int32, secure: Bool, for connection: Connection) -> Bool {
        // The connection is in its loop's table until `didClose`, which is the last that the library says of it.
        let opaque = Unmanaged.passUnretained(connection).toOpaque()
        return backscroll_adopt_socket(vhost, descriptor, secure ? 1 : 0, opaque) != nil
    }

    /// Destroys the context, which takes more than one call, with turns of the loop in between for libuv's closing.
    ///
    /// - Returns: whether all is given back; if not, nothing of the loop may be touched any more.
    func destroy(turn: () -> Void) -> Bool {
        let isDestroyed = Self.creation.withLock { _ in
            lws_context_destroy(context.pointee)
            // Another thread has been quicker, by a few microseconds: then the second close must not be.
            guard wakeup.take() else { return false }
            turn()
            while let context = context.pointee {
                lws_context_destroy(context)
                turn()
            }
            return true
        }
        guard isDestroyed else { return false }
        protocols.deallocate()
        foreignLoop.deallocate()
        shared.deallocate()
        context.deallocate()
        return true
    }
}

/// What the library calls for everything that happens to a socket.
///
/// - Returns: 0, or -1 to have the socket destroyed.
private func handleEvent(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    switch reason {
    case LWS_CALLBACK_RAW_ADOPT, LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE, LWS_CALLBACK_RAW_CLOSE:
        guard let wsi, let opaque = lws_get_opaque_user_data(wsi) else { return 0 }
        // Set at adoption to a connection that its loop's table holds; cleared below when it closes.
        let connection = Unmanaged<Connection>.fromOpaque(opaque).takeUnretainedValue()
        switch reason {
        case LWS_CALLBACK_RAW_ADOPT:
            connection.attach(wsi)
            return 0
        case LWS_CALLBACK_RAW_RX:
            // The library's receive buffer, valid for the length of the call; the span does not outlive it.
            let span = Span<UInt8>(_unsafeStart: bytes!.assumingMemoryBound(to: UInt8.self), count: count)
            return connection.enter { connection.didReceive(span) } ? 0 : -1
        case LWS_CALLBACK_RAW_WRITEABLE:
            return connection.enter { connection.didBecomeWriteable() } ? 0 : -1
        default:
            lws_set_opaque_user_data(wsi, nil)
            connection.didClose()
            // Thousands may end behind this one.
            connection.loop.didServeSocket()
            return 0
        }
    case LWS_CALLBACK_WSI_DESTROY:
        // Sockets that close together are closed by the system together, some 10 µs each, when the turn is over.
        if let wsi, let shared = LibraryContext.Shared.of(wsi) {
            Loop.from(shared.pointee.uv.pointee.data).didServeSocket()
        }
        return 0
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        // `user` is the vhost's SSL_CTX here.
        guard let wsi, let user, let shared = LibraryContext.Shared.of(wsi) else { return 0 }
        shared.pointee.tlsContext = OpaquePointer(user)
        return 0
    default:
        return 0
    }
}
