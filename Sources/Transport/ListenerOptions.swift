/// The options of one listening address of a ``LoopGroup``.
public struct ListenerOptions: Sendable {
    /// True if connections are encrypted. Only a group with a certificate can encrypt.
    public var isSecure: Bool
    /// Maximum number of connections on this address, apart from the group's limit; `nil` to count towards that.
    public var connections: Int?
    /// The balancers whose connections begin with a PROXY protocol header. They must send one, and it is trusted.
    /// Connections from other addresses must not send one.
    public var proxies: [IPRange]
    /// Called on a loop if a balancer's connection is closed because its header is missing or malformed. The arguments
    /// are the balancer's address and the reason.
    public var onProxyFailure: @Sendable (_ address: String, _ reason: String) -> Void
    /// Creates the handler of a connection beyond the limit, on its loop. It should end the connection soon. Each loop
    /// keeps up to ``TransportLimits/refusals`` such connections, and none if connections are encrypted.
    public var refusal: @Sendable (Connection) -> any ConnectionHandler

    /// Creates options with the usual defaults.
    public init(
        isSecure: Bool, connections: Int? = nil, proxies: [IPRange] = [],
        onProxyFailure: @escaping @Sendable (String, String) -> Void = { _, _ in },
        refusal: (@Sendable (Connection) -> any ConnectionHandler)? = nil
    ) {
        self.isSecure = isSecure
        self.connections = connections
        self.proxies = proxies
        self.onProxyFailure = onProxyFailure
        self.refusal = refusal ?? { Refusal(of: $0) }
    }
}
