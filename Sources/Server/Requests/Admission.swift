import Chat
import HTTP
import Transport
import Wire

/// Rate limits on requests.
extension Exchange {
    /// Counts an action against the limits of the user and the address.
    ///
    /// - Parameter user: The user who acts; `nil` without a name.
    /// - Throws: 429 `rate_limited`. The limit and the time to retry go into the answer's header.
    func admit(_ action: Limiter.Action, by user: UserID?) throws(Problem) {
        // Nearly every send comes here, and by default only searches are limited.
        guard let limiter = worker.services.guards.limiter, limiter.isLimited(action), let http else { return }
        let address = http.clientBlock(of: request)
        guard let exceeded = limiter.admit(action, user: user, address: address, at: worker.loop.nanoseconds)
        else { return }
        fields += exceeded.fields
        throw exceeded.problem
    }

    /// Counts a socket or an event stream against the connection limit of its client. Only for connections that a
    /// trusted proxy has made: ``HTTPConnection`` counts the others when they are made.
    ///
    /// - Throws: 429 `rate_limited`.
    func admitProxiedConnection() throws(Problem) {
        guard http?.isProxied == true else { return }
        try admit(.connections, by: nil)
    }

    /// The block of addresses that limits count the client by; `nil` if it is unknown or the client has gone.
    var clientBlock: AddressBlock? { http.flatMap { $0.clientBlock(of: request) } }
}

/// The clients of connections that trusted proxies have made.
extension HTTPConnection {
    /// Returns the address of a request's client: the peer's, or the one that trusted proxies report (see
    /// ``TrustedProxies``).
    func clientAddress(of request: RequestHead) -> IPAddress? {
        guard isProxied, let peer, let proxies = worker.services.guards.proxies else { return peer }
        return proxies.client(in: request.headerFields, from: peer)
    }

    /// Returns the block of addresses that limits count a request's client by.
    func clientBlock(of request: RequestHead) -> AddressBlock? {
        isProxied ? clientAddress(of: request).map(AddressBlock.init) : peerBlock
    }
}

extension Worker {
    /// Counts the action of a frame on a socket.
    ///
    /// - Throws: 429 `rate_limited`, which goes into an error frame.
    func admit(_ action: Limiter.Action, by user: UserID?, from address: AddressBlock?) throws(Problem) {
        guard let exceeded = services.guards.limiter?.admit(action, user: user, address: address, at: loop.nanoseconds)
        else { return }
        throw exceeded.problem
    }
}

extension Loop {
    /// The loop's clock in nanoseconds. The clocks of a process's loops differ by at most the length of a turn.
    var nanoseconds: Int64 { time.nanoseconds }
}
