import HTTP
import HTTPTypes
import Transport

/// The proxies whose word on a client's address is believed.
struct TrustedProxies: Sendable {
    private let ranges: [IPRange]

    /// `nil` when no proxy is trusted.
    init?(_ ranges: [IPRange]) {
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
    }

    /// True for an address of a trusted proxy.
    func contains(_ address: IPAddress) -> Bool {
        ranges.contains(address)
    }

    /// The client's address in a request that came from `peer`: the last hop that is no trusted proxy.
    ///
    /// From any other peer it is the peer's address, whatever the fields say. Where a trusted proxy does not know or does
    /// not tell, it is that proxy's own. `Forwarded` and `X-Forwarded-For` in one request must lead to the same client:
    /// a proxy that sets one of them often passes on the other as the client has sent it, so if they differ, neither is
    /// believed.
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
    /// The same, as most proxies tell it.
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
}
