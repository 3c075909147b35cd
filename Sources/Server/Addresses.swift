import Chat
import Logging
import Transport

/// The addresses that a server listens on.
struct Addresses {
    let main: BoundAddress
    /// The address of the separate listener for metrics; `nil` without one.
    let operations: BoundAddress?

    /// Maximum number of connections to the separate listener for metrics. It has connections of its own, since clients
    /// may have taken all others.
    static let operationsConnections = 64

    /// Takes the configured addresses. Clients that connect wait until they are served.
    init(of configuration: ServerConfiguration, on group: LoopGroup) throws(TransportError) {
        operations = try configuration.metricsAddress.map { address throws(TransportError) in
            try group.bind(host: address.host, port: address.port)
        }
        do throws(TransportError) {
            main = try group.bind(host: configuration.host, port: configuration.port)
        } catch {
            operations?.close()
            throw error
        }
    }

    /// Gives up addresses that are not served.
    func close() {
        main.close()
        operations?.close()
    }

    /// Serves connections.
    func serve(
        _ configuration: ServerConfiguration, on group: LoopGroup, with workers: [LoopBound<Worker>], _ logger: Logger
    ) throws(TransportError) {
        if let operations {
            let options = ListenerOptions(isSecure: false, connections: Self.operationsConnections)
            try group.listen(on: operations, options: options) { connection in
                HTTPConnection(
                    worker: workers[connection.loop.index].value, connection: connection, scope: .operations)
            }
        }
        let options = ListenerOptions(
            isSecure: true, proxies: configuration.proxyProtocol ? configuration.trustedProxies : [],
            onProxyFailure: { address, reason in
                logger.info(
                    "closed a connection from a trusted proxy, whose PROXY header was missing or malformed",
                    metadata: ["address": "\(address)", "reason": "\(reason)"])
            },
            refusal: { connection in
                HTTPConnection(
                    worker: workers[connection.loop.index].value, connection: connection,
                    refusal: .init(.tooManyConnections))
            })
        try group.listen(on: main, options: options) { connection in
            HTTPConnection(worker: workers[connection.loop.index].value, connection: connection)
        }
    }
}
