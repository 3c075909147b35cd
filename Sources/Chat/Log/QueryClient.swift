public import Wire

/// The client that queries are made for. Readers serve clients in turn.
public enum QueryClient: Sendable, Hashable {
    /// A user.
    case user(UserID)
    /// A caller without a name, by network address: an IPv4 address, or the first 64 bits of an IPv6 address.
    case address(UInt64)
    /// A caller without a name whose address is unknown, by the number of the connection.
    case connection(UInt64)

    /// Returns the user, or `other` for a caller without a name.
    public init(_ user: UserID?, or other: @autoclosure () -> QueryClient) {
        self = user.map(QueryClient.user) ?? other()
    }
}
