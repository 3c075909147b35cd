import Faults
import HTTP
import Transport

/// Faults, which a proxy in front of the server injects. The server itself knows nothing of them.
extension Server {
    /// Starts a proxy at the configured address, in front of the server's own port.
    static func startFaults(
        _ configuration: ServerConfiguration, before port: Int
    ) throws(TransportError) -> FaultProxy {
        try FaultProxy(
            before: Upstream(port: port), host: configuration.host, port: configuration.port, tls: configuration.tls,
            limits: configuration.transport,
            options: ListenerOptions(
                isSecure: true, proxies: configuration.proxyProtocol ? configuration.trustedProxies : []))
    }
}

extension ServerConfiguration {
    /// The configuration of a server behind a proxy that injects faults: it listens on a free port of 127.0.0.1, and
    /// the proxy reports the clients' addresses.
    var behindFaults: ServerConfiguration {
        var own = self
        (own.host, own.port, own.tls) = ("127.0.0.1", 0, nil)
        if HostPolicy.isName(host) { own.allowedHosts.append(host) }
        own.proxyProtocol = false
        own.trustedProxies += [IPRange("127.0.0.1")].compactMap(\.self)
        return own
    }
}
