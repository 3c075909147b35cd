/// The loops of a process, which share one limit on connections.
public final class LoopGroup: Sendable {
    /// The loops, by their index.
    public let loops: [Loop]
    private let tls: ServerTLS?
    private let admitted: ConnectionCount
    /// The bytes that connections keep for slow clients; see ``TransportLimits/unsentBytes``.
    public let unsent: ByteBudget

    /// Creates and starts loops. They run until ``stop()``.
    ///
    /// - Parameters:
    ///   - count: the number of threads, at least 1.
    ///   - tls: the certificate, if connections are to be encrypted.
    /// - Throws: ``TransportError`` if the certificate cannot be used, or if the system cannot create a loop.
    public init(
        count: Int, limits: TransportLimits = TransportLimits(), tls: TLSConfiguration? = nil
    ) throws(TransportError) {
        precondition(count > 0, "a group has one loop at least")
        if let tls { self.tls = try ServerTLS(tls) } else { self.tls = nil }
        admitted = ConnectionCount(limit: limits.connections)
        unsent = ByteBudget(limit: limits.unsentBytes)
        var loops: [Loop] = []
        do throws(TransportError) {
            for index in 0..<count {
                loops.append(try Loop(index: index, limits: limits, tls: self.tls, unsent: unsent))
            }
        } catch {
            for loop in loops { loop.discard() }
            throw error
        }
        self.loops = loops
        for loop in loops { loop.start() }
        if tls != nil {
            // One loop rotates the keys for all, because all must have the same keys.
            let loop = loops[0]
            loop.post { [weak self] in loop.every(limits.ticketKeys) { self?.rotateTicketKeys() } }
        }
    }

    /// Number of connections on all loops that count towards the limit.
    public var connectionCount: Int { admitted.inside }

    /// Number of connections refused because of the limit, a lack of descriptors, or an invalid PROXY header.
    public var refusedConnectionCount: Int { admitted.refused }

    /// True if connections are encrypted.
    public var isSecure: Bool { tls != nil }

    /// Takes an address, with a socket for each loop. Clients that connect wait until ``listen(on:options:handler:)``.
    ///
    /// - Parameters:
    ///   - host: a name or an address; `localhost` is 127.0.0.1 and ::1.
    ///   - port: 0 picks one.
    /// - Throws: ``TransportError`` if another process listens there, or if the address does not belong to this machine.
    public func bind(host: String, port: Int) throws(TransportError) -> BoundAddress {
        BoundAddress(host: host, sockets: try ListeningSockets(host: host, port: port, loops: loops.count))
    }

    /// Serves the connections to an address, which the loops then own.
    ///
    /// - Parameters:
    ///   - options: `nil` for the defaults. Connections are then encrypted if the group has a certificate.
    ///   - handler: creates the handler of a new connection on its loop; after the handshake if it is encrypted.
    /// - Throws: ``TransportError`` if the group has been stopped.
    public func listen(
        on address: BoundAddress, options: ListenerOptions? = nil,
        handler: @escaping @Sendable (Connection) -> any ConnectionHandler
    ) throws(TransportError) {
        let sockets = address.sockets
        var options = options ?? ListenerOptions(isSecure: isSecure)
        options.isSecure = options.isSecure && isSecure
        let admitted = options.connections.map(ConnectionCount.init(limit:)) ?? admitted
        for (loop, descriptors) in zip(loops, sockets.descriptors) {
            let isTaken = loop.post { [options] in
                for descriptor in descriptors {
                    loop.listen(descriptor, admitted: admitted, options: options, handler: handler)
                }
            }
            guard isTaken else {
                sockets.close(from: loop.index)
                throw .unavailable("cannot listen on \(address.host):\(address.port): the loops have been stopped")
            }
        }
    }

    /// Takes an address and serves its connections; see ``bind(host:port:)`` and ``listen(on:options:handler:)``.
    ///
    /// - Returns: the port.
    public func listen(
        host: String, port: Int, options: ListenerOptions? = nil,
        handler: @escaping @Sendable (Connection) -> any ConnectionHandler
    ) throws(TransportError) -> Int {
        let address = try bind(host: host, port: port)
        try listen(on: address, options: options, handler: handler)
        return address.port
    }

    /// Returns true if all addresses of a host are loopback addresses.
    public static func isLoopback(_ host: String) throws(TransportError) -> Bool {
        try SocketAddress.resolve(host, port: 0).allSatisfy(\.isLoopback)
    }

    /// Reads the certificate and key again, for new connections; open ones keep theirs. If they cannot be used, the old
    /// ones stay.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    public func reloadCertificate() throws(TransportError) {
        guard let tls else { return }
        let certificate = try Certificate(tls.configuration)
        for loop in loops { loop.post { loop.library.certificate = certificate } }
    }

    /// Replaces the keys of TLS session tickets on all loops. Tickets with old keys are no longer accepted, and their
    /// clients make a full handshake. A key that leaks later therefore decrypts little recorded traffic. The keys also
    /// rotate automatically; see ``TransportLimits/ticketKeys``.
    public func rotateTicketKeys() {
        guard isSecure, let keys = ServerTLS.makeTicketKeys() else { return }
        for loop in loops { loop.post { loop.library.use(ticketKeys: keys) } }
    }

    /// Stops accepting, and tells every connection's handler that the server is stopping.
    public func windDown() {
        for loop in loops { loop.post { loop.windDown() } }
    }

    /// Ends every connection and thread, and waits for them. Do not call it on a loop.
    public func stop() {
        for loop in loops { loop.stop() }
        for loop in loops { loop.join() }
    }
}

/// An address that this process has taken, but does not serve yet. Either serve it or ``close()`` it.
public struct BoundAddress: Sendable {
    let host: String
    let sockets: ListeningSockets

    /// The port.
    public var port: Int { sockets.port }

    /// Gives the address up. Clients that have connected are disconnected.
    public func close() { sockets.close(from: 0) }
}
