import Chat
import HTTP
import Transport
import Wire

/// Rate limits on requests.
extension Exchange {
    /// Counts an action against the limits of the user and the address. Costs one pointer check if there are no limits.
    ///
    /// - Parameter user: The user who acts; `nil` without a name.
    /// - Throws: 429 `rate_limited`. The limit and the time to retry go into the answer's header.
    func admit(_ action: Limiter.Action, by user: UserID?) throws(Problem) {
        guard let limiter = worker.services.limiter, let http else { return }
        let address = clientBlock(on: http)
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

    /// Returns the client's address: the peer's, or the one that trusted proxies report (see ``TrustedProxies``).
    func clientAddress(on http: HTTPConnection) -> IPAddress? {
        guard http.isProxied, let peer = http.peer, let proxies = worker.services.proxies else { return http.peer }
        return proxies.client(in: request.headerFields, from: peer)
    }

    /// Returns the block of addresses that limits count the client by.
    func clientBlock(on http: HTTPConnection) -> AddressBlock? {
        http.isProxied ? clientAddress(on: http).map(AddressBlock.init) : http.peerBlock
    }

    /// Counts the addition of a member: as a change, and if a caller other than an admin adds another user, also
    /// against the limit of invites.
    func admitMember(_ user: UserID, by caller: Identity) throws(Problem) {
        let name = try caller.named()
        guard user != name, !caller.isAdmin else { return try admit(.changes, by: name) }
        try admit(.invites, by: name)
        do throws(Problem) {
            try admit(.changes, by: name)
        } catch {
            worker.services.limiter?.putBack(.invites, user: name, address: http.flatMap(clientBlock))
            throw error
        }
    }
}

extension Worker {
    /// Counts the action of a frame on a socket.
    ///
    /// - Throws: 429 `rate_limited`, which goes into an error frame.
    func admit(_ action: Limiter.Action, by user: UserID?, from address: AddressBlock?) throws(Problem) {
        guard let exceeded = services.limiter?.admit(action, user: user, address: address, at: loop.nanoseconds)
        else { return }
        throw exceeded.problem
    }
}

extension Loop {
    /// The loop's clock in nanoseconds. The clocks of a process's loops differ by at most the length of a turn.
    var nanoseconds: Int64 { time.nanoseconds }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
