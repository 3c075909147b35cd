import Chat
import HTTP
import Transport
import Wire

/// True if the caller has done too much of something of late.
extension Exchange {
    /// Counts what the request is about to do. Without limits this is a look at one pointer.
    ///
    /// - Parameter user: who does it; `nil` if nobody is named.
    /// - Throws: 429 `rate_limited`, with when to try again and the limit in the answer's head.
    func admit(_ action: Limiter.Action, by user: UserID?) throws(Problem) {
        guard let limiter = worker.services.limiter, let http else { return }
        let address = clientBlock(on: http)
        guard let exceeded = limiter.admit(action, user: user, address: address, at: worker.loop.nanoseconds)
        else { return }
        fields += exceeded.fields
        throw exceeded.problem
    }

    /// Counts a socket or an event stream as a connection of its client, where a proxy has made the connection itself.
    ///
    /// - Throws: 429 `rate_limited`.
    func admitProxiedConnection() throws(Problem) {
        guard http?.isProxied == true else { return }
        try admit(.connections, by: nil)
    }

    /// The client's address: the peer's, or what trusted proxies say (see ``TrustedProxies``).
    func clientAddress(on http: HTTPConnection) -> IPAddress? {
        guard http.isProxied, let peer = http.peer, let proxies = worker.services.proxies else { return http.peer }
        return proxies.client(in: request.headerFields, from: peer)
    }

    /// The client's address as limits count it.
    func clientBlock(on http: HTTPConnection) -> AddressBlock? {
        http.isProxied ? clientAddress(on: http).map(AddressBlock.init) : http.peerBlock
    }

    /// Counts a user whom the caller adds to a room: as a change, and unless the caller is an admin or adds itself, against
    /// the limit of its own.
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
    /// Counts what a frame on a socket is about to do.
    ///
    /// - Throws: 429 `rate_limited`, which goes into an error frame.
    func admit(_ action: Limiter.Action, by user: UserID?, from address: AddressBlock?) throws(Problem) {
        guard let exceeded = services.limiter?.admit(action, user: user, address: address, at: loop.nanoseconds)
        else { return }
        throw exceeded.problem
    }
}

extension Loop {
    /// The loop's clock, which all loops of the process share up to a turn's length, in nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
