public import Wire

/// The party that queries are made for. Readers serve askers in turn.
public enum Asker: Sendable, Hashable {
    /// A user.
    case user(UserID)
    /// Somebody without a name, by the network address: an IPv4 address, or the first 64 bits of an IPv6 address.
    case address(UInt64)
    /// Somebody without a name on a connection whose address is not looked at, by a number of that connection.
    case connection(UInt64)

    /// A user, or whoever `other` says when there is no name.
    public init(_ user: UserID?, or other: @autoclosure () -> Asker) {
        self = user.map(Asker.user) ?? other()
    }
}
