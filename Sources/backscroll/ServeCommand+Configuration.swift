public import ArgumentParser
import Chat
import Commands
import HTTP
public import Logging
public import Server
import Tokens
import Transport

/// Checks the options, and turns them into the server's configuration.
extension ServeCommand {
    func validate() throws {
        try check(port, 0...65535, "port")
        try check(threads ?? 1, 1...SubscribedLoops.maximumLoops, "threads")
        try check(readers, 1...64, "readers")
        try check(writers, 1...16, "writers")
        try check(keepDays ?? 1, 1...36_500, "keep-days")
        try check(maxConnections, 1...1_000_000, "max-connections")
        try check(maxBody, 1024...64 * 1024 * 1024, "max-body")
        try check(maxHead, 1024...1024 * 1024, "max-head")
        try check(maxFrame, 125...64 * 1024 * 1024, "max-frame")
        try check(maxQueue, 1...10_000_000, "max-queue")
        try check(maxPendingBytes, maxBody...64 * 1024 * 1024 * 1024, "max-pending-bytes")
        try check(maxUnsentBytes, 8 * 1024 * 1024...64 * 1024 * 1024 * 1024, "max-unsent-bytes")
        try check(maxFeedBytes, 0...64 * 1024 * 1024 * 1024, "max-feed-bytes")
        _ = try trustedProxies()
        guard !proxyProtocol || !trustProxy.isEmpty else {
            throw ValidationError("--proxy-protocol needs the addresses of the balancers: add --trust-proxy.")
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        guard !keySources.isEmpty || jwtIssuer == nil && jwtAudience == nil else {
            throw ValidationError(
                "--jwt-issuer and --jwt-audience need a key: add --jwt-secret-file, --jwt-key or --jwks.")
        }
    }

    func trustedProxies() throws -> [IPRange] {
        try trustProxy.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { text in
            guard let range = IPRange(String(text)) else {
                throw ValidationError(
                    "--trust-proxy must be an IP address or a range like 10.0.0.0/8 or fd00::/8, with no bits set beyond the "
                        + "prefix, not '\(text)'.")
            }
            return range
        }
    }

    /// The files with secrets, and the options that name them.
    var secretFiles: [(option: String, path: String)] {
        [("--jwt-secret-file", jwtSecretFile), ("--tls-key", tlsKey)].compactMap { option, path in
            path.map { (option, $0) }
        }
    }

    var keySources: KeySources {
        var sources = KeySources()
        sources.secret = EnvironmentArguments.current[KeySources.secretVariable]
        sources.secretFile = jwtSecretFile
        // Keep an empty path, which is refused later: a variable that was meant to name a key must not lead to open
        // mode.
        sources.publicKeys = jwtKey.flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        sources.keySet = jwks
        return sources
    }

    /// The rules that tokens are verified by; `nil` in open mode.
    func tokenRules(_ sources: KeySources) throws -> TokenRules? {
        guard !sources.isEmpty else { return nil }
        return TokenRules(keys: try sources.load(), issuer: jwtIssuer, audience: jwtAudience)
    }

    var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.database = database
        configuration.metricsAddress = metricsListen
        // Already validated.
        configuration.trustedProxies = (try? trustedProxies()) ?? []
        configuration.proxyProtocol = proxyProtocol
        configuration.threads = threads ?? min(SubscribedLoops.maximumLoops, availableProcessors())
        configuration.readers = readers
        configuration.writers = writers
        if let tlsCert, let tlsKey { configuration.tls = TLSConfiguration(certificate: tlsCert, key: tlsKey) }
        configuration.allowedOrigins = allowOrigin.flatMap { $0.split(separator: ",").map(String.init) }
        configuration.allowedHosts = allowHost.flatMap { $0.split(separator: ",").map(String.init) }
        configuration.insecureOpen = insecureOpen
        configuration.faults = faults
        configuration.limits.userSends = limitSends.limit
        configuration.limits.userChanges = limitChanges.limit
        configuration.limits.userSubscriptions = limitSubscriptions.limit
        configuration.limits.userReads = limitReads.limit
        configuration.limits.userInvites = limitInvites.limit
        configuration.limits.addressSends = limitAddressSends.limit
        configuration.limits.addressChanges = limitAddressChanges.limit
        configuration.limits.addressSubscriptions = limitAddressSubscriptions.limit
        configuration.limits.addressReads = limitAddressReads.limit
        configuration.limits.addressInvites = limitAddressInvites.limit
        configuration.limits.addressConnections = limitAddressConnections.limit
        configuration.transport.connections = maxConnections
        configuration.transport.noProgress = progressTimeout.duration
        configuration.http.bodyBytes = maxBody
        configuration.http.headBytes = maxHead
        configuration.deadlines.firstByte = firstByteTimeout.duration
        configuration.deadlines.head = headTimeout.duration
        configuration.deadlines.body = bodyTimeout.duration
        configuration.deadlines.idle = idleTimeout.duration
        configuration.webSocket.pingInterval = pingInterval.duration
        configuration.eventHeartbeat = heartbeatInterval.duration
        configuration.webSocket.messageBytes = maxFrame
        configuration.compression = !noCompression
        configuration.roomsByAdminsOnly = roomsByAdminsOnly
        configuration.membersByAdminsOnly = membersByAdminsOnly
        configuration.keepDays = keepDays
        configuration.unsafeDatabase = unsafeDatabase
        configuration.page = !noPage
        configuration.presence = !noPresence
        configuration.readNotices = !noReadNotices
        configuration.sendQueue = maxQueue
        configuration.pendingBytes = maxPendingBytes
        configuration.transport.unsentBytes = maxUnsentBytes
        configuration.allFeedsBytes = maxFeedBytes
        configuration.requestLogging = logRequests
        return configuration
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
extension RequestLogging: ExpressibleByArgument {}

extension ListenAddress: ExpressibleByArgument {
    /// Parses the value of an option.
    public init?(argument: String) {
        self.init(argument)
    }
}
