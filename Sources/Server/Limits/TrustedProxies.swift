import HTTP
import HTTPTypes
import Transport

/// The proxies that are trusted to report a client's address.
struct TrustedProxies: Sendable {
    private let ranges: [IPRange]

    /// Returns `nil` when no proxy is trusted.
    init?(_ ranges: [IPRange]) {
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
    }

    /// True for an address of a trusted proxy.
    func contains(_ address: IPAddress) -> Bool {
        ranges.contains(address)
    }

    /// Returns the client's address for a request from `peer`: the last hop that is not a trusted proxy.
    ///
    /// For an untrusted peer it is the peer's own address, whatever the headers say. If a trusted proxy does not name
    /// the previous hop, it is that proxy's address. If a request has both `Forwarded` and `X-Forwarded-For`, they must
    /// agree on the client: a proxy that sets one of them often forwards the other as the client sent it. If they
    /// differ, both are ignored.
    func client(in fields: HeaderFields, from peer: IPAddress) -> IPAddress {
        guard contains(peer) else { return peer }
        let (forwarded, forwardedFor) = (fields[values: .forwarded], fields[values: .xForwardedFor])
        switch (forwarded.isEmpty, forwardedFor.isEmpty) {
        case (true, true): return peer
        case (false, true): return client(behind: peer, .forwarded(forwarded))
        case (true, false): return client(behind: peer, .xForwardedFor(forwardedFor))
        case (false, false):
            let client = client(behind: peer, .forwarded(forwarded))
            return client == self.client(behind: peer, .xForwardedFor(forwardedFor)) ? client : peer
        }
    }

    private func client(behind peer: IPAddress, _ hops: ForwardedHops) -> IPAddress {
        var client = peer
        for hop in hops {
            guard case .address(let text) = hop, let address = IPAddress(text) else { return client }
            client = address
            if !contains(address) { return client }
        }
        return client
    }
}

extension HTTPField.Name {
    /// The hops of a request (RFC 7239).
    static let forwarded = HTTPField.Name("Forwarded")!
    /// The hops of a request, in the form that most proxies send.
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
}
