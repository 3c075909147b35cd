import Glibc
import HTTP
public import Transport

/// A proxy in front of a server, which makes it misbehave for requests that ask for it.
public final class FaultProxy: Sendable {
    /// The limits on requests: the largest that a server can be started with, whose own limits then apply.
    static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.headBytes = 1024 * 1024
        limits.targetBytes = limits.headBytes
        limits.headerFields = 10_000
        limits.bodyBytes = 64 * 1024 * 1024
        return limits
    }()

    /// The warning for the person who starts the proxy.
    public static let warning =
        "FAULTS ARE ON: any request can make this server misbehave. Use it only to test clients."

    /// The port that it listens on.
    public let port: Int
    /// The one loop of the proxy.
    public let group: LoopGroup

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - upstream: The server to misbehave for.
    ///   - port: The port; 0 picks a free one.
    ///   - tls: The certificate for HTTPS; `nil` for HTTP.
    ///   - options: The options of the listener, such as balancers that send the PROXY header.
    public init(
        before upstream: Upstream, host: String, port: Int, tls: TLSConfiguration? = nil,
        limits: TransportLimits = TransportLimits(), options: ListenerOptions? = nil
    ) throws(TransportError) {
        group = try LoopGroup(count: 1, limits: limits, tls: tls)
        let state = LoopBound(
            ProxyState(upstream, HostPolicy(names: HostPolicy.isName(host) ? [host] : [])), to: group.loops[0])
        do throws(TransportError) {
            self.port = try group.listen(host: host, port: port, options: options) {
                ProxyConnection($0, state.value)
            }
        } catch {
            group.stop()
            throw error
        }
    }

    /// Closes all connections, and ends the thread. Clients that have not read everything by then are cut off.
    public func stop(by deadline: ContinuousClock.Instant = .now) {
        group.windDown()
        while group.connectionCount > 0, ContinuousClock.now < deadline { usleep(10_000) }
        group.stop()
    }
}

/// The server behind a proxy.
public struct Upstream: Sendable {
    let address: PeerAddress
    let tls: ClientTLS?
    /// The scheme and authority of the URL; `nil` for a server of this process, which gets the clients' Host.
    let origin: Origin?

    /// The server at `http://HOST:PORT` or `https://HOST`; `nil` for another text, such as one with a path.
    public init?(_ url: String, trust: ClientTLS.Trust = .system) throws(TransportError) {
        let isSecure = url.lowercased().hasPrefix("https:")
        guard isSecure || url.lowercased().hasPrefix("http:"),
            let origin = Origin(url.hasSuffix("/") ? String(url.dropLast()) : url),
            let hostAndPort = origin.hostAndPort, let colon = hostAndPort.lastIndex(of: ":"),
            let port = Int(hostAndPort[colon...].dropFirst())
        else { return nil }
        let host = String(hostAndPort[..<colon].drop { $0 == "[" }.prefix { $0 != "]" })
        self.origin = origin
        address = try PeerAddress(host: host, port: port)
        tls = isSecure ? try ClientTLS(host: host, trust: trust) : nil
    }

    /// The server of this process that listens on a port of 127.0.0.1.
    public init(port: Int) throws(TransportError) {
        address = try PeerAddress(host: "127.0.0.1", port: port)
        tls = nil
        origin = nil
    }
}

/// The state that the connections of a proxy share. It is confined to its loop.
final class ProxyState {
    let upstream: Upstream
    /// The hosts that are names of the proxy itself.
    let hosts: HostPolicy
    let counts = FaultCounts()
    var writer = ResponseWriter()
    /// The server's epoch, as its answers last named it.
    var epoch: String?
    /// The connections with subscriptions.
    var live: [ObjectIdentifier: ProxyConnection] = [:]

    init(_ upstream: Upstream, _ hosts: HostPolicy) {
        self.upstream = upstream
        self.hosts = hosts
    }
}
