import ArgumentParser
import Chat
import Commands
import Glibc
import HTTP
import Logging
import Server
import Store
import Tokens
import Transport

/// `backscroll serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            When the server is ready, it prints a line that begins with "listening on" on standard output.
            SIGTERM and SIGINT stop it: for at most \(ServeCommand.defaults.grace.components.seconds) seconds it finishes \
            pending requests and closes sockets with 1001. Then it closes the database and exits with 0. SIGHUP makes it reload \
            its certificate, the token keys and the secrets of --before-send.

            With a key (--jwt-secret-file, --jwt-key, --jwks), callers authenticate with JSON Web Tokens signed with HS256, \
            RS256, ES256 or EdDSA. Without a key the server is in open mode: callers choose their own names, and the server \
            does not verify them.

            A rate limit (--limit-…) is 50/s, or 50/s:200 for a burst of 200; the period is s, m or h. Requests beyond it get \
            429 with Retry-After and RateLimit. Limits other than --limit-searches are off by default: the right values depend on the \
            application, an address may belong to a proxy, and load tests come from one address. Each process counts for itself.

            Each option can also be set by an environment variable: --tls-cert by BACKSCROLL_TLS_CERT. A flag takes precedence \
            over its variable.
            """)

    /// The configuration without options, which has their defaults.
    static let defaults: ServerConfiguration = {
        var defaults = ServerConfiguration()
        defaults.limits.userSearches = RateLimit(30, per: .minute)
        defaults.threads = min(SubscribedLoops.maximumLoops, availableProcessors())
        return defaults
    }()

    @Option(\.host, "The name or address to listen on. localhost is 127.0.0.1 and ::1.")
    var host: Setting

    @Option(\.port, in: 0...65535, "The port, 0 to 65535; 0 picks a free one.")
    var port: Setting

    @Option(
        \.metricsAddress,
        "Serve /metrics on this address instead, along with /healthz and /readyz. It has no TLS: keep it "
            + "inside your network.",
        valueName: "host:port")
    var metricsListen: Setting

    @Option(
        \.trustedProxies,
        "Read the client's address from the Forwarded or X-Forwarded-For header of requests from this address or "
            + "range (10.0.0.0/8). Can be repeated, or given with commas.",
        valueName: "cidr")
    var trustProxy: [Setting]

    @Flag(
        help: ArgumentHelp(
            "Expect a PROXY protocol header (version 1 or 2), which names the client, on connections from --trust-proxy "
                + "addresses."))
    var proxyProtocol = false

    @Option(
        \.database,
        "The SQLite database, which is created if it does not exist; or the URL of a PostgreSQL database, "
            + "postgres://USER@HOST/NAME.",
        valueName: "path-or-url")
    var database: Setting

    @Option(
        \.threads, in: 1...SubscribedLoops.maximumLoops, showsDefault: false,
        "Threads that serve connections, 1 to 64. (default: as many as there are processors)")
    var threads: Setting

    @Option(\.readers, in: 1...64, "Threads that read history, 1 to 64. With PostgreSQL each has a connection.")
    var readers: Setting

    @Option(\.writers, in: 1...16, "Connections that write to PostgreSQL, 1 to 16. SQLite has one writer.")
    var writers: Setting

    @Option(help: ArgumentHelp("Serve HTTPS with this certificate and its intermediates (PEM).", valueName: "path"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("The certificate's private key (PEM).", valueName: "path"))
    var tlsKey: String?

    @Option(
        \.allowedOrigins,
        "Allow pages of this origin (https://app.example.com), in addition to the server's own; * allows all. "
            + "Can be repeated, or given with commas.",
        valueName: "origin")
    var allowOrigin: [Setting]

    @Option(
        \.allowedHosts,
        "In open mode, also answer to this host name (chat.local), in addition to localhost, IP addresses and --host. "
            + "Can be repeated, or given with commas.",
        valueName: "name")
    var allowHost: [Setting]

    @Option(
        help: ArgumentHelp(
            "A file with the secret of tokens signed with HS256, 32 bytes or more. "
                + "Or set BACKSCROLL_JWT_SECRET to the secret itself.", valueName: "path"))
    var jwtSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "A public key of tokens signed with RS256, ES256 or EdDSA (PEM). Can be repeated, or given "
                + "with commas.", valueName: "path"))
    var jwtKey: [String] = []

    @Option(help: ArgumentHelp("A JSON Web Key Set with public keys of tokens.", valueName: "path"))
    var jwks: String?

    @Option(help: ArgumentHelp("Accept only tokens of this issuer (iss).", valueName: "name"))
    var jwtIssuer: String?

    @Option(
        help: ArgumentHelp(
            "Accept only tokens for this audience (aud). Without it, tokens must not have one.", valueName: "name"))
    var jwtAudience: String?

    @Flag(help: "Allow listening beyond loopback in open mode, where any client can use any name.")
    var insecureOpen = false

    @Flag(
        help: ArgumentHelp(
            "Inject the faults that requests ask for (Backscroll-Fault: NAME=VALUE, or ?fault=), to test clients; "
                + "in open mode only."))
    var faults = false

    @Option(
        \.limits.userSends,
        "Limit on a user's sends: 50/s, or 50/s:200 for a burst of 200, per s, m or h.", valueName: "rate")
    var limitSends: Setting

    @Option(
        \.limits.userChanges,
        "Limit on a user's changes of messages, read marks, rooms and members.", valueName: "rate")
    var limitChanges: Setting

    @Option(\.limits.userSubscriptions, "Limit on a user's subscriptions.", valueName: "rate")
    var limitSubscriptions: Setting

    @Option(
        \.limits.userReads,
        "Limit on a user's reads of pages, messages, changes, rooms and members.", valueName: "rate")
    var limitReads: Setting

    @Option(\.limits.userSearches, "Limit on a user's searches.", valueName: "rate")
    var limitSearches: Setting

    @Option(
        \.limits.userInvites,
        "Limit on the users that a user adds to rooms. Admins are not limited.", valueName: "rate")
    var limitInvites: Setting

    @Option(\.limits.addressSends, "Limit on sends from an address. A proxy is one address.", valueName: "rate")
    var limitAddressSends: Setting

    @Option(\.limits.addressChanges, "Limit on changes from an address.", valueName: "rate")
    var limitAddressChanges: Setting

    @Option(\.limits.addressSubscriptions, "Limit on subscriptions from an address.", valueName: "rate")
    var limitAddressSubscriptions: Setting

    @Option(\.limits.addressReads, "Limit on reads from an address.", valueName: "rate")
    var limitAddressReads: Setting

    @Option(\.limits.addressInvites, "Limit on the users added to rooms from an address.", valueName: "rate")
    var limitAddressInvites: Setting

    @Option(\.limits.addressConnections, "Limit on connections from an address.", valueName: "rate")
    var limitAddressConnections: Setting

    @Option(\.transport.connections, in: 1...1_000_000, "Maximum number of open connections; further ones get 503.")
    var maxConnections: Setting

    @Option(
        \.http.bodyBytes, in: 1024...64 * 1024 * 1024,
        "Maximum size of a request's body; a larger one gets 413.", valueName: "bytes")
    var maxBody: Setting

    @Option(
        \.http.headBytes, in: 1024...1024 * 1024,
        "Maximum size of a request's head; a larger one gets 431.", valueName: "bytes")
    var maxHead: Setting

    @Option(\.deadlines.firstByte, "Time limit for the first byte of a connection; then 408.", valueName: "seconds")
    var firstByteTimeout: Setting

    @Option(\.deadlines.head, "Time limit for the head of a request; then 408.", valueName: "seconds")
    var headTimeout: Setting

    @Option(\.deadlines.body, "Time limit for the body of a request; then 408.", valueName: "seconds")
    var bodyTimeout: Setting

    @Option(\.deadlines.idle, "Time that a connection may idle between requests.", valueName: "seconds")
    var idleTimeout: Setting

    @Option(\.transport.noProgress, "Time that a client may leave waiting data unread.", valueName: "seconds")
    var progressTimeout: Setting

    @Option(
        \.webSocket.pingInterval,
        "Interval of WebSocket pings; two unanswered ones end the connection.", valueName: "seconds")
    var pingInterval: Setting

    @Option(
        \.eventHeartbeat,
        "Interval of comments on an event stream, which keep proxies from closing it.", valueName: "seconds")
    var heartbeatInterval: Setting

    @Option(
        \.webSocket.messageBytes, in: 125...64 * 1024 * 1024,
        "Maximum size of a client's WebSocket message; a larger one closes the socket with 1009.", valueName: "bytes")
    var maxFrame: Setting

    @Flag(help: "Do not compress WebSocket messages, even if clients offer permessage-deflate.")
    var noCompression = false

    @Flag(help: "Only admins create rooms; for others, rooms that do not exist are not found.")
    var roomsByAdminsOnly = false

    @Flag(help: "Only admins add other users to rooms. Users may still join open rooms, and leave.")
    var membersByAdminsOnly = false

    @Option(
        \.roomMentionMembers, in: 0...10_000,
        "Maximum number of members of a room in which everybody may mention the room; in others its owners may.",
        valueName: "members")
    var roomMentionMembers: Setting

    @Option(
        \.keepDays, in: 1...36_500,
        "Delete messages older than this, 1 to 36500. Tombstones stay. Without it, messages stay.", valueName: "days")
    var keepDays: Setting

    @Flag(
        help: ArgumentHelp(
            "Store messages although PostgreSQL's fsync or full_page_writes is off, so that its crash can lose them. "
                + "Otherwise the server is not ready then."))
    var unsafeDatabase = false

    @Option(
        \.webhookAddresses,
        "Let webhooks have this address or range besides public ones (10.0.0.0/8). Can be repeated, or given with commas.",
        valueName: "cidr")
    var webhookAllow: [Setting]

    @Flag(help: "Let webhooks have http URLs, which everybody on the way can read.")
    var webhookAllowHttp = false

    @Option(
        help: ArgumentHelp(
            "Deliver to webhooks through this proxy, http://HOST:PORT. It then decides which addresses are allowed.",
            valueName: "url"))
    var webhookProxy: String?

    @Option(
        help: ArgumentHelp(
            "Ask this URL before a message is stored or edited; the app may refuse or change it. Any address is allowed.",
            valueName: "url"))
    var beforeSend: String?

    @Option(
        help: ArgumentHelp(
            "The secrets that sign these questions, one a line: whsec_ and 32 bytes in base64.", valueName: "path"))
    var beforeSendSecretFile: String?

    @Option(help: "Messages while that URL gives no answer: refuse (503), or allow.")
    var beforeSendFailure = BeforeSendConfiguration.Failure.refuse

    @Option(
        \.pushDelay, in: 0...3600,
        "Seconds that users with a live connection have for reading a message before a push event, 0 to 3600.",
        valueName: "seconds")
    var pushDelay: Setting

    @Option(
        help: ArgumentHelp(
            "What push events have of a message: message, or none for its ids only, so that the app fetches it."))
    var pushContent = PushContent.message

    @Flag(help: "Do not serve the web page at /.")
    var noPage = false

    @Flag(help: "Do not tell subscribers how many users are in their rooms.")
    var noPresence = false

    @Flag(help: "Do not tell subscribers the read marks of other users.")
    var noReadNotices = false

    @Flag(help: "Tell nobody the read marks of other users, neither in lists nor in notices.")
    var noReadReceipts = false

    @Flag(help: "Do not let users search for messages.")
    var noSearch = false

    @Option(\.sendQueue, in: 1...10_000_000, "Maximum number of sends that wait for a commit; further ones get 503.")
    var maxQueue: Setting

    @Option(
        \.pendingBytes, in: 1...64 * 1024 * 1024 * 1024,
        "Maximum size of the request bodies that are arriving or waiting for a commit; beyond it requests get 503.",
        valueName: "bytes")
    var maxPendingBytes: Setting

    @Option(
        \.transport.unsentBytes, in: 8 * 1024 * 1024...64 * 1024 * 1024 * 1024,
        "Maximum size of the data kept for slow clients; beyond it slow connections are closed.", valueName: "bytes")
    var maxUnsentBytes: Setting

    @Option(
        \.allFeedsBytes, in: 0...64 * 1024 * 1024 * 1024,
        "Maximum size of the messages kept for slow subscribers; beyond it they read the database.", valueName: "bytes")
    var maxFeedBytes: Setting

    @Option(help: "The lowest level to log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    @Option(help: "The format of the log: text, or json with one object a line. The log goes to standard error.")
    var logFormat = LogFormat.text

    @Option(help: "The requests to log: off, refused (answered with 400 or above), or all.")
    var logRequests = RequestLogging.off

    func run() async throws {
        let logger = makeLogger(label: "backscroll", format: logFormat, level: logLevel)
        for warning in EnvironmentArguments.warnings { logger.warning("\(warning)") }
        var configuration = serverConfiguration
        let warnings = StartWarnings.warnings(
            trustedProxies: configuration.trustedProxies, isRoot: geteuid() == 0)
        for warning in warnings + StartWarnings.warnings(secrets: secretFiles) { logger.warning("\(warning)") }
        let signals = await ServerSignals()
        let keySources = keySources
        let (events, source) = AsyncStream.makeStream(of: Event.self)
        Task {
            await signals.waitForStop { source.yield(.reload) }
            source.yield(.stop)
        }
        configuration.tokens = try tokenRules(keySources)
        configuration.onOtherHistory = { source.yield(.otherHistory) }
        configuration.onFailedSync = { source.yield(.failedSync) }
        var server = try start(configuration, logger)
        // A server that is started again has the same addresses.
        configuration.port = server.port
        if let port = server.metricsPort { configuration.metricsAddress?.port = port }
        ServiceManager.notify("READY=1\nSTATUS=listening on \(server.url)")
        let watchdog = ServiceManager.watchdogInterval.map { interval in
            Task {
                while true {
                    source.yield(.alive)
                    try await Task.sleep(for: interval)
                }
            }
        }
        defer { watchdog?.cancel() }
        for await event in events {
            switch event {
            case .alive:
                server.afterTurnOfEachLoop { ServiceManager.notify("WATCHDOG=1") }
            case .reload:
                ServiceManager.notifyReloading()
                for warning in StartWarnings.warnings(secrets: secretFiles) { logger.warning("\(warning)") }
                server.reload()
                server.reloadKeys(from: keySources)
                server.reloadBeforeSendSecrets()
                ServiceManager.notify("READY=1")
            case .otherHistory, .failedSync:
                logger.critical(
                    event == .otherHistory
                        ? "the database was restored, or a standby was promoted; starting again, so that clients load their rooms again"
                        : "a sync of the database failed, so the disk may lack what was written; starting again from the write-ahead log"
                )
                server.stop()
                server = try start(configuration, logger)
                server.reloadKeys(from: keySources)
            case .stop:
                ServiceManager.notify("STOPPING=1")
                logger.info("stopping")
                server.stop()
                logger.info("stopped")
                return
            }
        }
    }

    private enum Event: Sendable {
        case alive, reload, otherHistory, failedSync, stop
    }

    /// Starts the server, and announces that it is ready.
    private func start(_ configuration: ServerConfiguration, _ logger: Logger) throws -> Server {
        let server = try Server(configuration, logger: logger)
        announce(server.url)
        var metadata: Logger.Metadata = [
            "version": "\(Version.current)", "url": "\(server.url)",
            "database": "\(DatabaseLocation(configuration.database))",
            "callers": configuration.tokens.map { "\($0.keys.count) token keys" } ?? "any name (open mode)",
        ]
        if let host = configuration.metricsAddress?.host, let port = server.metricsPort {
            metadata["metrics"] = "http://\(ListenAddress(host: host, port: port))/metrics"
        }
        logger.info("started", metadata: metadata)
        return server
    }
}
