public import ArgumentParser
import HTTP
public import Logging
public import Server
import Tokens
import Transport

/// `backscroll serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            When it is ready it says so on standard output, in a line that begins with "listening on".
            SIGTERM and SIGINT stop it: what is in flight is finished, sockets are closed with 1001, and it exits \
            with 0 after \(ServeCommand.defaults.grace.components.seconds) seconds at most. SIGHUP has it read its \
            certificate and the keys of tokens anew.

            With a key (--jwt-secret-file, --jwt-key, --jwks) callers are who their tokens say they are: JSON Web \
            Tokens signed with HS256, RS256, ES256 or EdDSA. Without one the server is in open mode: callers say a \
            name, and are believed.

            The limits (--limit-…) are answered with 429 beyond them, with Retry-After and RateLimit. They are off \
            unless given: what is much depends on the application, an address may be a proxy's, and load tests come \
            from one address. Each process counts for itself.

            Each option can also be given as an environment variable: --tls-cert as BACKSCROLL_TLS_CERT. \
            A flag wins over its variable.
            """)

    static let defaults = ServerConfiguration()

    @Option(help: "Where to listen: a name or an address. localhost is 127.0.0.1 and ::1.")
    var host = defaults.host

    @Option(help: "The port, 0 to 65535; 0 picks one that is free.")
    var port = defaults.port

    @Option(
        help: ArgumentHelp(
            "Serve /metrics there, with /healthz and /readyz, and no longer with the rest: without TLS, for this network "
                + "only.", valueName: "host:port"))
    var metricsListen: ListenAddress?

    @Option(
        name: .customLong("trust-proxy"),
        help: ArgumentHelp(
            "Take the client's address from the Forwarded or X-Forwarded-For of requests that come from this address or "
                + "range (10.0.0.0/8). Can be given more than once, or with commas.", valueName: "cidr"))
    var trustProxy: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Connections from --trust-proxy addresses begin with a PROXY protocol header (version 1 or 2), which names the "
                + "client."))
    var proxyProtocol = false

    @Option(help: ArgumentHelp("The SQLite database; it is made if it is not there.", valueName: "path"))
    var database = defaults.database

    @Option(help: "Threads that serve connections, 1 to 64. (default: as many as there are processors)")
    var threads: Int?

    @Option(help: "Threads that read history, 1 to 64.")
    var readers = defaults.readers

    @Option(help: ArgumentHelp("Serve HTTPS with this certificate: PEM, with its intermediates.", valueName: "path"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("The certificate's private key: PEM.", valueName: "path"))
    var tlsKey: String?

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            "Let pages of this origin use the server (https://app.example.com), beside the server's own; * for all. "
                + "Can be given more than once, or with commas.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp(
            "In open mode, answer also to this host name (chat.local), beside localhost, IP addresses and --host. Can be "
                + "given more than once, or with commas.", valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "The secret that tokens are signed with by HS256, of 32 bytes or more: a file. "
                + "Or the variable BACKSCROLL_JWT_SECRET has the secret itself.", valueName: "path"))
    var jwtSecretFile: String?

    @Option(
        name: .customLong("jwt-key"),
        help: ArgumentHelp(
            "A public key that tokens are signed with by RS256, ES256 or EdDSA: PEM. Can be given more than once, or "
                + "with commas.", valueName: "path"))
    var jwtKey: [String] = []

    @Option(help: ArgumentHelp("Public keys that tokens are signed with: a JSON Web Key Set.", valueName: "path"))
    var jwks: String?

    @Option(help: ArgumentHelp("Take only tokens of this issuer (iss).", valueName: "name"))
    var jwtIssuer: String?

    @Option(
        help: ArgumentHelp(
            "Take only tokens for this audience (aud); without it, only tokens that name none.", valueName: "name"))
    var jwtAudience: String?

    @Flag(help: "Listen beyond loopback although anybody may use any name.")
    var insecureOpen = false

    @Flag(
        help: ArgumentHelp(
            "Misbehave where requests ask for it (Backscroll-Fault: NAME=VALUE, or ?fault=), to try clients; "
                + "in open mode only."))
    var faults = false

    @Option(
        help: ArgumentHelp(
            "How often a user may send: 50/s, or 50/s:200 for 200 at once; s, m or h.", valueName: "rate"))
    var limitSends = LimitOption.off

    @Option(
        help: ArgumentHelp(
            "How often a user may change messages, read marks, rooms and members, likewise.", valueName: "rate"))
    var limitChanges = LimitOption.off

    @Option(help: ArgumentHelp("How often a user may subscribe, likewise.", valueName: "rate"))
    var limitSubscriptions = LimitOption.off

    @Option(
        help: ArgumentHelp(
            "How often a user may read pages, messages, changes, rooms and members, likewise.", valueName: "rate"))
    var limitReads = LimitOption.off

    @Option(
        help: ArgumentHelp(
            "How often a user may add other users to rooms, likewise. Admins are not limited.", valueName: "rate"))
    var limitInvites = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may send, likewise. A proxy is one address.", valueName: "rate"))
    var limitAddressSends = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may change them, likewise.", valueName: "rate"))
    var limitAddressChanges = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may subscribe, likewise.", valueName: "rate"))
    var limitAddressSubscriptions = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may read, likewise.", valueName: "rate"))
    var limitAddressReads = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may add users to rooms, likewise.", valueName: "rate"))
    var limitAddressInvites = LimitOption.off

    @Option(help: ArgumentHelp("How often an address may connect, likewise.", valueName: "rate"))
    var limitAddressConnections = LimitOption.off

    @Option(help: "Connections at a time; one more gets 503.")
    var maxConnections = defaults.transport.connections

    @Option(help: ArgumentHelp("The largest body of a request; a larger one gets 413.", valueName: "bytes"))
    var maxBody = defaults.http.bodyBytes

    @Option(help: ArgumentHelp("The largest head of a request; a larger one gets 431.", valueName: "bytes"))
    var maxHead = defaults.http.headBytes

    @Option(help: ArgumentHelp("Time for the first byte of a connection; then 408.", valueName: "seconds"))
    var firstByteTimeout = Seconds(defaults.deadlines.firstByte)

    @Option(help: ArgumentHelp("Time for the head of a request; then 408.", valueName: "seconds"))
    var headTimeout = Seconds(defaults.deadlines.head)

    @Option(help: ArgumentHelp("Time for the body of a request; then 408.", valueName: "seconds"))
    var bodyTimeout = Seconds(defaults.deadlines.body)

    @Option(help: ArgumentHelp("How long a connection may wait for its next request.", valueName: "seconds"))
    var idleTimeout = Seconds(defaults.deadlines.idle)

    @Option(help: ArgumentHelp("How long a client may take nothing of what is sent to it.", valueName: "seconds"))
    var progressTimeout = Seconds(defaults.transport.noProgress)

    @Option(
        help: ArgumentHelp("How often a WebSocket is pinged; it is gone after two unanswered.", valueName: "seconds"))
    var pingInterval = Seconds(defaults.webSocket.pingInterval)

    @Option(
        help: ArgumentHelp(
            "How often an event stream gets a comment, which keeps proxies from ending it.", valueName: "seconds"))
    var heartbeatInterval = Seconds(defaults.eventHeartbeat)

    @Option(
        help: ArgumentHelp(
            "The largest frame of a client on a WebSocket; a larger one closes with 1009.", valueName: "bytes"))
    var maxFrame = defaults.webSocket.messageBytes

    @Flag(help: "Do not compress messages on WebSockets whose clients offer permessage-deflate.")
    var noCompression = false

    @Flag(help: "Rooms are made by admins only; what nobody has made is not there.")
    var roomsByAdminsOnly = false

    @Flag(help: "Only admins add other users to rooms; users may join open rooms, and leave.")
    var membersByAdminsOnly = false

    @Option(
        help: ArgumentHelp(
            "Delete messages that are older, 1 to 36500: tombstones stay. Without it they are kept.", valueName: "days")
    )
    var keepDays: Int?

    @Flag(help: "Do not serve the web page at /.")
    var noPage = false

    @Flag(help: "Do not tell the subscribers of a room how many are there.")
    var noPresence = false

    @Flag(help: "Do not tell the subscribers of a room up to where users have read.")
    var noReadNotices = false

    @Option(help: "Sends that may wait for a commit; one more gets 503.")
    var maxQueue = defaults.sendQueue

    @Option(
        help: ArgumentHelp(
            "Bytes of request bodies that may be arriving or waiting for a commit; beyond it requests get 503.",
            valueName: "bytes"))
    var maxPendingBytes = defaults.pendingBytes

    @Option(
        help: ArgumentHelp(
            "Bytes to keep for clients that are slow to take them; beyond it slow connections are ended.",
            valueName: "bytes"))
    var maxUnsentBytes = defaults.transport.unsentBytes

    @Option(
        help: ArgumentHelp(
            "Bytes of messages to keep for subscribers that are behind; beyond it they read the database.",
            valueName: "bytes"))
    var maxFeedBytes = defaults.allFeedsBytes

    @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    @Option(help: "How to log: text, or json with an object a line. The log goes to standard error.")
    var logFormat = LogFormat.text

    @Option(
        name: .customLong("log-requests"),
        help: "The requests to log a line of: off, refused (answered with 400 or above), or all.")
    var logRequests = RequestLogging.off

    func validate() throws {
        try check(port, 0...65535, "port")
        try check(threads ?? 1, 1...64, "threads")
        try check(readers, 1...64, "readers")
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
            throw ValidationError("--proxy-protocol needs the balancers' addresses: see --trust-proxy.")
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        guard !keySources.isEmpty || jwtIssuer == nil && jwtAudience == nil else {
            throw ValidationError(
                "--jwt-issuer and --jwt-audience need a key: see --jwt-secret-file, --jwt-key, --jwks.")
        }
    }

    /// The ranges of `--trust-proxy`.
    private func trustedProxies() throws -> [IPRange] {
        try trustProxy.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { text in
            guard let range = IPRange(String(text)) else {
                throw ValidationError(
                    "--trust-proxy must be an IP address or a range like 10.0.0.0/8 or fd00::/8, without bits beyond the "
                        + "prefix, not '\(text)'.")
            }
            return range
        }
    }

    private func check(_ value: Int, _ range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(value) else {
            throw ValidationError("--\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
        }
    }

    /// Where the options say that the keys of tokens are.
    var keySources: KeySources {
        var sources = KeySources()
        sources.secret = EnvironmentArguments.current[KeySources.secretVariable]
        sources.secretFile = jwtSecretFile
        // An empty path is kept, and refused: a variable that was meant to name a key must not lead to open mode.
        sources.publicKeys = jwtKey.flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        sources.keySet = jwks
        return sources
    }

    /// What tokens are held against; `nil` in open mode.
    private func tokenRules(_ sources: KeySources) throws -> TokenRules? {
        guard !sources.isEmpty else { return nil }
        return TokenRules(keys: try sources.load(), issuer: jwtIssuer, audience: jwtAudience)
    }

    /// What the options say, as the server takes it.
    var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.database = database
        configuration.metricsAddress = metricsListen
        // Validated before.
        configuration.trustedProxies = (try? trustedProxies()) ?? []
        configuration.proxyProtocol = proxyProtocol
        configuration.threads = threads ?? min(64, availableProcessors())
        configuration.readers = readers
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

    func run() async throws {
        let logger = makeLogger(label: "backscroll", format: logFormat, level: logLevel)
        for warning in EnvironmentArguments.warnings { logger.warning("\(warning)") }
        let signals = await ServerSignals()
        let keySources = keySources
        var configuration = serverConfiguration
        configuration.tokens = try tokenRules(keySources)
        let server = try Server(configuration, logger: logger)
        announce(server.url)
        var metadata: Logger.Metadata = [
            "version": "\(Version.current)", "url": "\(server.url)", "database": "\(database)",
            "callers": configuration.tokens.map { "by tokens of \($0.keys.count) keys" } ?? "by any name they say",
        ]
        if let host = metricsListen?.host, let port = server.metricsPort {
            metadata["metrics"] = "http://\(ListenAddress(host: host, port: port))/metrics"
        }
        logger.info("started", metadata: metadata)
        await signals.waitForStop {
            server.reload()
            server.reloadKeys(from: keySources)
        }
        logger.info("stopping")
        server.stop()
        logger.info("stopped")
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
extension RequestLogging: ExpressibleByArgument {}

extension ListenAddress: ExpressibleByArgument {
    /// Reads the value of an option.
    public init?(argument: String) {
        self.init(argument)
    }
}
