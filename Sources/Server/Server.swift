import Chat
import CoreMetrics
import Dispatch
import Faults
import Glibc
import HTTP
import HTTPTypes
public import Logging
import Store
import Synchronization
public import Tokens
import Transport
import Webhooks
import Wire

/// A running server: its loops, its log, and the connections between them.
public final class Server: Sendable {
    /// The port that it listens on.
    public var port: Int { faults?.port ?? ownPort }
    private let ownPort: Int
    /// The port of the separate listener for metrics; `nil` without one.
    public let metricsPort: Int?
    /// The URL of the server as seen from this machine.
    public let url: String
    private let configuration: ServerConfiguration
    private let group: LoopGroup
    /// The proxy that clients connect to if faults are on; `nil` otherwise.
    private let faults: FaultProxy?
    private let nodes: NodeExchange?
    private let log: any OpenLog
    private let webhooks: WebhookService
    private let beforeSend: BeforeSend?
    /// Forwards the log's events to the loops.
    let dispatcher: LoopDispatcher
    private let workers: [LoopBound<Worker>]
    private let logger: Logger

    /// Opens the database, starts the loops and listens.
    ///
    /// - Throws: ``TransportError``, ``StoreError`` or ``ServerError``, each with a description for the person who
    ///   starts the server.
    public init(_ wanted: ServerConfiguration, logger: Logger) throws {
        let configuration = wanted.faults ? wanted.behindFaults : wanted
        self.configuration = configuration
        self.logger = logger
        guard try wanted.tokens != nil || wanted.insecureOpen || LoopGroup.isLoopback(wanted.host) else {
            throw ServerError.openBeyondLoopback(wanted.host)
        }
        guard !wanted.faults || wanted.tokens == nil else { throw ServerError.faultsWithKeys }
        let origins = try Self.originPolicy(configuration.allowedOrigins)
        let hosts = try Self.hostPolicy(configuration)
        guard !wanted.proxyProtocol || !wanted.trustedProxies.isEmpty else {
            throw ServerError.proxyProtocolWithoutProxies
        }
        let beforeSecrets = try wanted.beforeSend.map { try BeforeSend.secrets(of: $0) }
        var transport = configuration.transport
        let descriptors = try Self.descriptorsForConnections(configuration)
        if descriptors < transport.connections {
            logger.notice(
                "the limit of open files allows fewer connections than --max-connections",
                metadata: [
                    "connections": .stringConvertible(descriptors), "wanted": .stringConvertible(transport.connections),
                ])
            transport.connections = descriptors
        }
        reserveDescriptors(transport.connections)
        keepFreedMemory()
        LibraryLog.send { level, line in
            // The library logs clients' mistakes as errors. For us they are details for debugging.
            logger.debug("libwebsockets: \(line)", metadata: ["level": "\(level)"])
        }

        let registry = PrometheusRegistry(help: ServerMetricName.help)
        let metrics = ServerMetrics(factory: registry)
        let isShared = DatabaseLocation(configuration.database).isShared
        let nodeMetrics = isShared ? NodeMetrics(factory: registry) : nil
        let store = Self.storeConfiguration(configuration, metrics, nodeMetrics, logger)
        let subscribedLoops = SubscribedLoops()
        let dispatcher = LoopDispatcher(subscribedLoops: subscribedLoops)
        let group = try LoopGroup(count: configuration.threads, limits: transport, tls: configuration.tls)
        var proxy: FaultProxy?
        do {
            // First, so that a start which fails because an address is in use creates no database.
            let addresses = try Addresses(of: configuration, on: group)
            let log: any OpenLog
            do {
                if wanted.faults { proxy = try Self.startFaults(wanted, before: addresses.main.port) }
                log = try Self.openLog(
                    configuration, observer: dispatcher, subscribers: subscribedLoops, store)
            } catch {
                addresses.close()
                throw error
            }
            let presence =
                configuration.presence
                ? Presence(interval: configuration.presenceInterval, isShared: isShared) : nil
            let nodes = Self.exchange(configuration, store, presence, dispatcher)
            let live = Services.Live(subscribedLoops: subscribedLoops, dispatcher: dispatcher)
            let webhooks = WebhookService(
                { try log.webhookStore() }, isShared: isShared,
                sender: configuration.webhookSender
                    ?? CurlSender(configuration.webhooks, niceness: WebhookService.niceness),
                rules: configuration.webhooks,
                pushRules: PushRules(
                    delay: .seconds(configuration.pushDelay), hasContent: configuration.pushContent == .message,
                    largeRooms: configuration.largeRooms
                ) { user, room in
                    live.openSockets.count(of: user) > 0 || presence?.isPresent(user, in: room) == true
                },
                roomsOfPoll: configuration.webhookRoomsOfPoll,
                metrics: WebhookMetrics(factory: registry, registry: registry),
                logger: logger)
            dispatcher.connect(webhooks)
            let beforeSend = configuration.beforeSend.map {
                BeforeSend(
                    $0, secrets: beforeSecrets ?? [], metrics: BeforeSendMetrics(factory: registry), logger: logger)
            }
            let services = Services(
                configuration: configuration, log: log,
                health: .init(problem: { Self.problem(of: log) }, damagedRooms: { log.quarantinedRooms }),
                live: live,
                notices: .init(
                    typing: TypingRate(interval: configuration.typingInterval), presence: presence,
                    readNotices: configuration.readNotices
                        ? ReadNotices(interval: configuration.readNoticeInterval) : nil,
                    nodes: nodes),
                guards: .init(
                    origins: origins, hosts: hosts, pending: ByteBudget(limit: configuration.pendingBytes),
                    proxies: TrustedProxies(configuration.trustedProxies), limiter: Limiter(configuration.limits)),
                webhooks: webhooks, beforeSend: beforeSend, metrics: metrics,
                exposition: SharedExposition(of: registry, interval: configuration.metricsInterval),
                logger: logger, requestLog: RequestLog(configuration.requestLogging, to: logger))
            workers = group.loops.map { loop in Self.makeWorker(on: loop, services) }
            dispatcher.connect(workers)
            let workers = workers
            do {
                try addresses.serve(configuration, on: group, with: workers, logger)
            } catch {
                nodes?.close()
                beforeSend?.close()
                webhooks.close()
                log.close()
                dispatcher.disconnect()
                throw error
            }
            (ownPort, metricsPort) = (addresses.main.port, addresses.operations?.port)
            self.log = log
            self.webhooks = webhooks
            self.beforeSend = beforeSend
            self.nodes = nodes
            self.dispatcher = dispatcher
            Self.observe(registry, group, services, log)
            registry.observe(.roomNumbers) { [numbers = store.roomNumbers] in Int(numbers.highest) }
            registry.observe(.roomsRefused) { [numbers = store.roomNumbers] in numbers.refused }
            nodeMetrics?.observe({ [weak log] in log?.nodeCounts }, in: registry)
        } catch {
            proxy?.stop()
            group.stop()
            throw error
        }
        self.group = group
        faults = proxy
        let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
        url = "\(wanted.tls == nil ? "http" : "https")://\(host):\(proxy?.port ?? ownPort)"
        if proxy != nil { logger.warning("\(FaultProxy.warning)") }
    }

    /// Starts to exchange notices with other nodes; `nil` if there can be none.
    private static func exchange(
        _ configuration: ServerConfiguration, _ store: StoreConfiguration, _ presence: Presence?,
        _ dispatcher: LoopDispatcher
    ) -> NodeExchange? {
        guard case .postgres(let url) = DatabaseLocation(configuration.database) else { return nil }
        return NodeExchange(
            url: url, countedBy: store.connections, presence: presence, onNotices: { dispatcher.heard($0) },
            onPresence: { dispatcher.presenceChanged() })
    }

    private static func openLog(
        _ configuration: ServerConfiguration, observer: any LogObserver, subscribers: SubscribedLoops,
        _ store: StoreConfiguration
    ) throws(StoreError) -> any OpenLog {
        switch DatabaseLocation(configuration.database) {
        case .file(let path): try SQLiteLog(path: path, observer: observer, configuration: store)
        case .postgres(let url):
            try PostgresLog(url: url, observer: observer, subscribers: subscribers, configuration: store)
        }
    }

    /// Returns the number of file descriptors left for connections, after those of the loops, the listeners and the
    /// database.
    private static func descriptorsForConnections(_ configuration: ServerConfiguration) throws(ServerError) -> Int {
        let limit = raiseOpenFileLimit()
        let operations = configuration.metricsAddress == nil ? 0 : Addresses.operationsConnections
        let reserved =
            20 + operations + 16 * configuration.threads + 4 * (configuration.readers + configuration.writers)
        guard limit >= reserved + minimumConnections else {
            throw .tooFewDescriptors(limit, needed: reserved + minimumConnections)
        }
        return limit - reserved
    }

    /// The server does not start with room for fewer connections.
    private static let minimumConnections = 4

    private static func originPolicy(_ allowed: [String]) throws(ServerError) -> OriginPolicy {
        var origins: Set<Origin> = []
        for text in allowed where text != "*" {
            guard let origin = Origin(text) else { throw .badOrigin(text) }
            origins.insert(origin)
        }
        return OriginPolicy(
            allowed: allowed.contains("*") ? .any : .only(origins),
            requestHeaders: [.authorization, .contentType, .xUser, .lastEventID, .ifMatch, .ifNoneMatch, .traceParent],
            exposedHeaders: [.location, .link, .retryAfter, .eTag, .rateLimit, .rateLimitPolicy])
    }

    private static func hostPolicy(_ configuration: ServerConfiguration) throws(ServerError) -> HostPolicy? {
        for name in configuration.allowedHosts where !HostPolicy.isName(name) { throw .badHost(name) }
        guard configuration.tokens == nil, !configuration.insecureOpen else { return nil }
        return HostPolicy(names: configuration.allowedHosts + [configuration.host].filter(HostPolicy.isName))
    }

    private static func storeConfiguration(
        _ configuration: ServerConfiguration, _ metrics: ServerMetrics, _ nodeMetrics: NodeMetrics?, _ logger: Logger
    ) -> StoreConfiguration {
        var store = StoreConfiguration()
        store.readers = configuration.readers
        store.writers = configuration.writers
        store.submissionQueue = configuration.sendQueue
        store.queryQueue = configuration.readQueue
        store.queriesOfClient = configuration.readQueueOfClient
        store.roomsByAdminsOnly = configuration.roomsByAdminsOnly
        store.membersByAdminsOnly = configuration.membersByAdminsOnly
        store.roomMentionMembers = configuration.roomMentionMembers
        store.maximumPages = configuration.maximumDatabasePages
        store.busyTimeout = configuration.busyTimeout
        store.keepDays = configuration.keepDays
        store.indexes = configuration.search
        store.allowsUnsafeDatabase = configuration.unsafeDatabase
        store.onUnsafeDatabase = { reason in
            logger.warning("\(reason) in PostgreSQL, so its crash can lose acknowledged messages")
        }
        store.listenerSilence = configuration.listenerSilence
        if let nodeMetrics {
            store.onWriterWait = { nodeMetrics.writerWait.recordNanoseconds($0.nanoseconds) }
            store.onLookup = { nodeMetrics.lookupDelay.recordNanoseconds($0.nanoseconds) }
        }
        store.onOtherRetention = { [keepDays = configuration.keepDays] others in
            func text(_ days: Int?) -> String { days.map { "for \($0) days" } ?? "for ever" }
            if others.isEmpty {
                logger.notice("all nodes have the same --keep-days again")
            } else {
                logger.warning(
                    """
                    nodes have different --keep-days, and the longest counts: this node keeps messages \(text(keepDays)), \
                    others \(others.map(text).joined(separator: ", "))
                    """)
            }
        }
        store.onExpiry = { event in
            switch event {
            case .expired(let count): metrics.messagesExpired.increment(by: count)
            case .passOver(let count):
                logger.info("messages have expired", metadata: ["count": .stringConvertible(count)])
            case .failed(let reason): logger.error("cannot delete expired messages: \(reason)")
            }
        }
        store.onQuarantine = { room, reason in
            logger.critical(
                "the room is read-only, because its part of the database is damaged: \(reason)",
                metadata: ["room": "\(room)"])
        }
        store.onJob = { event in
            switch event {
            case .progress(let job, let percent): logger.notice("\(job): \(percent) %")
            case .done(let job): logger.info("done: \(job)")
            case .failed(let job, let reason):
                logger.error("\(job) failed and will be retried: \(reason)")
            }
        }
        store.onCommit = { duration, count in
            metrics.commits.increment()
            metrics.commitMessages.record(count)
            metrics.commitSeconds.recordNanoseconds(duration.nanoseconds)
        }
        store.onHealthChange = { failure in
            if let failure {
                logger.error("messages cannot be stored: \(failure)")
            } else {
                logger.notice("messages can be stored again")
            }
        }
        store.onListeningChange = { failure in
            if let failure {
                logger.error("messages of other nodes do not arrive: \(failure)")
            } else {
                logger.notice("messages of other nodes arrive again")
            }
        }
        store.onRoomLimit = {
            logger.critical("no more rooms can be created, because the database has given out all numbers of rooms")
        }
        store.onMissingChecksums = { remedy in
            logger.notice(
                "the pages of the database have no checksums, so a bit that changes on the disk may go unseen: \(remedy)"
            )
        }
        store.onReadingChange = { failure in
            if let failure {
                logger.error("messages cannot be read: \(failure)")
            } else {
                logger.notice("messages can be read again")
            }
        }
        store.onOtherHistory = configuration.onOtherHistory
        store.onFailedSync = configuration.onFailedSync
        store.onNewEpoch = { epoch in
            logger.notice(
                "the history was restored and has a new epoch, so clients load their rooms again",
                metadata: ["epoch": "\(epoch)"])
        }
        store.onRead = { [onRead = configuration.onRead] duration in
            metrics.readSeconds.recordNanoseconds(duration.nanoseconds)
            onRead?()
        }
        return store
    }

    /// Returns the problem while the log cannot commit, or does not hear of other nodes' commits. The cause is in the
    /// server's log only, since anybody may ask.
    private static func problem(of log: any OpenLog) -> Problem? {
        if let loss = log.storageLoss { return loss }
        if log.isCutOff { return .unavailable("The server does not reach its database.") }
        return log.failure == nil ? nil : .unavailable("Messages cannot be stored at the moment.")
    }

    /// Registers metrics that are read on each exposition.
    private static func observe(
        _ registry: PrometheusRegistry, _ group: LoopGroup, _ services: Services, _ log: any OpenLog
    ) {
        let (subscribedLoops, pending, unsent) = (services.live.subscribedLoops, services.guards.pending, group.unsent)
        registry.observe(.connections) { group.connectionCount }
        registry.observe(.connectionsRefused) { group.refusedConnectionCount }
        registry.observe(.feeds) { subscribedLoops.count }
        registry.observe(.pendingBytes) { pending.used }
        registry.observe(.unsentBytes) { unsent.used }
        // Weak, because the log counts its commits with metrics of this registry.
        registry.observe(.queuedSends) { [weak log] in log?.queuedSubmissions ?? 0 }
        registry.observe(.roomsQuarantined) { [weak log] in log?.quarantinedRooms ?? 0 }
        registry.observe(.queuedReads) { [weak log] in log?.queuedQueries ?? 0 }
        registry.observe(.ready) { [weak log] in log.map { Self.problem(of: $0) == nil } == true ? 1 : 0 }
        let store = DatabaseLocation(services.configuration.database).isShared ? "postgresql" : "sqlite"
        let build = [("version", Version.current), ("store", store)]
        registry.observe(.buildInfo, dimensions: build) { 1 }
        func observe(_ name: ServerMetricName, _ value: @escaping @Sendable (StorageSizes) -> Double?) {
            registry.observe(name) { [weak log] () -> Double? in (log?.sizes).flatMap(value) }
        }
        observe(.databaseBytes) { $0.databaseBytes.map(Double.init) }
        observe(.logBytes) { $0.logBytes.map(Double.init) }
        observe(.freeBytes) { $0.freeBytes.map(Double.init) }
        observe(.lastBackup) { $0.lastBackup }
        registry.observeProcess()
    }

    /// Creates a loop's worker on the loop.
    private static func makeWorker(on loop: Loop, _ services: Services) -> LoopBound<Worker> {
        let made = Mutex<LoopBound<Worker>?>(nil)
        let isMade = DispatchSemaphore(value: 0)
        loop.post {
            let worker = LoopBound(Worker(loop: loop, services: services), to: loop)
            made.withLock { $0 = worker }
            isMade.signal()
        }
        isMade.wait()
        return made.withLock { $0! }
    }

    /// Calls `then` on a loop's thread once every loop has taken a turn; never while one of them is stuck.
    public func afterTurnOfEachLoop(_ then: @escaping @Sendable () -> Void) {
        Self.pass(through: group.loops[...], then)
    }

    private static func pass(through loops: ArraySlice<Loop>, _ then: @escaping @Sendable () -> Void) {
        guard let loop = loops.first else { return then() }
        _ = loop.post { pass(through: loops.dropFirst(), then) }
    }

    /// Reloads the certificate and key, if there are any, for new connections. If they are unusable the old ones stay.
    /// Always replaces the session ticket keys.
    public func reload() {
        let group = faults?.group ?? group
        guard group.isSecure else { return }
        group.rotateTicketKeys()
        do {
            try group.reloadCertificate()
            logger.info("certificate reloaded")
        } catch {
            logger.error("cannot use the new certificate, the old one stays: \(error)")
        }
    }

    /// Reloads the token keys, for requests from then on. If they are unusable the old ones stay. A server in open mode
    /// stays in open mode.
    public func reloadKeys(from sources: KeySources) {
        guard var rules = configuration.tokens else { return }
        do {
            rules.keys = try sources.load()
        } catch {
            return logger.error("cannot use the new token keys, the old ones stay: \(error)")
        }
        for worker in workers { worker.loop.post { [rules] in worker.value.authenticate(by: rules) } }
        logger.info("token keys reloaded", metadata: ["keys": .stringConvertible(rules.keys.count)])
    }

    /// Reads the secrets of `--before-send-secret-file` again. If they are unusable the old ones stay.
    public func reloadBeforeSendSecrets() {
        guard let beforeSend, let configuration = configuration.beforeSend else { return }
        do {
            beforeSend.sign(with: try BeforeSend.secrets(of: configuration))
        } catch {
            logger.error("\(error) The old secrets stay.")
        }
    }

    /// Stops the server: accepts no more connections, answers pending requests, closes sockets with 1001, commits, and
    /// ends the threads. Takes at most the grace period and the time to close the log, which is longer after a burst of
    /// sends.
    public func stop() {
        for worker in workers { worker.loop.post { worker.value.windDown() } }
        group.windDown()
        let deadline = ContinuousClock.now + configuration.grace
        // Connections end by themselves, each on its loop, and nothing reports the last one.
        while group.connectionCount > 0, ContinuousClock.now < deadline { usleep(10_000) }
        faults?.stop(by: deadline)
        nodes?.close()
        beforeSend?.close()
        webhooks.close()
        log.close()
        group.stop()
        dispatcher.disconnect()
    }
}
