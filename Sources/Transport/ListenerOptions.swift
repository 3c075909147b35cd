/// What distinguishes one listening address of a ``LoopGroup`` from another.
public struct ListenerOptions: Sendable {
    /// Whether connections are encrypted. Only a group with a certificate can encrypt.
    public var isSecure: Bool
    /// The most connections that this address serves at a time, apart from the group's bound; `nil` to count against that.
    public var connections: Int?
    /// The balancers whose connections begin with a header of the PROXY protocol. Their connections must have one, and it
    /// is believed; from other addresses a header is not expected and not understood.
    public var proxies: [IPRange]
    /// Called on a loop for a balancer's connection that is closed because its header is missing or malformed, with the
    /// balancer's address and the reason.
    public var onProxyFailure: @Sendable (_ address: String, _ reason: String) -> Void
    /// Makes the handler of a connection for which there is no place, on its loop. It should end the connection soon. There
    /// are ``TransportLimits/refusals`` such connections for each loop, and none where connections are encrypted.
    public var refusal: @Sendable (Connection) -> any ConnectionHandler

    /// Options with the usual defaults.
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
