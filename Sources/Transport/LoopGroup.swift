/// The loops of a process, which share one bound on connections.
public final class LoopGroup: Sendable {
    /// The loops, by their index.
    public let loops: [Loop]
    private let tls: ServerTLS?
    private let gate: Gate
    /// The bytes that connections keep for slow clients; see ``TransportLimits/unsentBytes``.
    public let unsent: ByteBudget

    /// Makes and starts loops. They run until ``stop()``.
    ///
    /// - Parameters:
    ///   - count: how many threads, 1 at least.
    ///   - tls: the certificate, when connections are to be encrypted.
    /// - Throws: ``TransportError`` when the certificate cannot be used or the system gives no loop.
    public init(
        count: Int, limits: TransportLimits = TransportLimits(), tls: TLSConfiguration? = nil
    ) throws(TransportError) {
        precondition(count > 0, "a group has one loop at least")
        if let tls { self.tls = try ServerTLS(tls) } else { self.tls = nil }
        gate = Gate(limit: limits.connections)
        unsent = ByteBudget(limit: limits.unsentBytes)
        var loops: [Loop] = []
        do throws(TransportError) {
            for index in 0..<count {
                loops.append(try Loop(index: index, limits: limits, tls: self.tls, gate: gate, unsent: unsent))
            }
        } catch {
            for loop in loops { loop.discard() }
            throw error
        }
        self.loops = loops
        for loop in loops { loop.start() }
        if tls != nil { scheduleTicketKeys(every: limits.ticketKeys) }
    }

    /// One loop's clock serves all: they must have the same keys.
    private func scheduleTicketKeys(every interval: Duration) {
        let loop = loops[0]
        loop.post { [weak self] in loop.every(interval) { self?.rotateTicketKeys() } }
    }

    /// How many connections all loops serve.
    public var connectionCount: Int { gate.inside }

    /// How many connections have been refused, because there were as many as may be or no descriptors for more.
    public var refusedConnectionCount: Int { gate.refused }

    /// Whether connections are encrypted.
    public var isSecure: Bool { tls != nil }

    /// Listens on an address, with a socket for each loop.
    ///
    /// - Parameters:
    ///   - host: a name or an address; `localhost` is 127.0.0.1 and ::1.
    ///   - port: 0 picks one.
    ///   - options: `nil` for connections that are encrypted if the group has a certificate, and nothing else out of the
    ///     ordinary.
    ///   - handler: makes the handler of a new connection, on its loop; after the handshake when it is encrypted.
    /// - Returns: the port.
    /// - Throws: ``TransportError`` when somebody listens there already, the address is not one of this machine's, or
    ///   the group has been stopped.
    public func listen(
        host: String, port: Int, options: ListenerOptions? = nil,
        handler: @escaping @Sendable (Connection) -> any ConnectionHandler
    ) throws(TransportError) -> Int {
        let sockets = try ListeningSockets(host: host, port: port, loops: loops.count)
        var options = options ?? ListenerOptions(isSecure: isSecure)
        options.isSecure = options.isSecure && isSecure
        let gate = options.connections.map(Gate.init(limit:)) ?? gate
        for (loop, descriptors) in zip(loops, sockets.descriptors) {
            let isTaken = loop.post { [options] in
                for descriptor in descriptors {
                    loop.listen(descriptor, gate: gate, options: options, handler: handler)
                }
            }
            guard isTaken else {
                sockets.close(from: loop.index)
                throw .unavailable("cannot listen on \(host):\(port): the loops have been stopped")
            }
        }
        return sockets.port
    }

    /// Whether a host stands for addresses of this machine's own only.
    public static func isLoopback(_ host: String) throws(TransportError) -> Bool {
        try SocketAddress.resolve(host, port: 0).allSatisfy(\.isLoopback)
    }

    /// Reads the certificate and key anew; new connections get them, and those that are open keep theirs. When they
    /// cannot be used, the old ones stay.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    public func reloadCertificate() throws(TransportError) {
        guard let tls else { return }
        let certificate = try Certificate(tls.configuration)
        for loop in loops { loop.post { loop.library.certificate = certificate } }
    }

    /// Makes new keys for TLS session tickets, on all loops. Tickets by the old keys are not accepted any more, so that who
    /// learns a key later can read little of what was recorded: their clients make a full handshake. This also happens by
    /// itself, see ``TransportLimits/ticketKeys``.
    public func rotateTicketKeys() {
        guard isSecure, let keys = ServerTLS.makeTicketKeys() else { return }
        for loop in loops { loop.post { loop.library.use(ticketKeys: keys) } }
    }

    /// Stops accepting and has every connection say goodbye.
    public func windDown() {
        for loop in loops { loop.post { loop.windDown() } }
    }

    /// Ends every connection and thread, and waits for that. Not on a loop.
    public func stop() {
        for loop in loops { loop.stop() }
        for loop in loops { loop.join() }
    }
}
