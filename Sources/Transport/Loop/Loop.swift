import CLibwebsockets
import Glibc
import Synchronization

/// A thread that serves connections: a libuv loop with a libwebsockets context, and a serial executor.
///
/// A connection, its requests and its subscriptions belong to one loop and are used on its thread only, so they need no
/// locks. Other threads may only call ``post(_:)``, ``stop()`` and ``join()``. An actor may have
/// the loop as its executor.
///
/// A turn of the loop, in order:
///
/// 1. Descriptors that are ready are served, in the kernel's order:
///    - Connections are read and written.
///    - Posted work runs for up to ``workSlice``. The rest waits for the next turn.
///    - Listeners accept up to ``TransportLimits/acceptsPerTurn`` connections each, at the rate of ``AcceptPace``.
/// 2. Timers run: the work of ``after(_:_:)`` and the deadlines of connections.
/// 3. Connections that have more input than they had time for are served, for up to ``TurnSlice/length`` all together.
/// 4. Aborted connections are destroyed, and the work of ``atEndOfTurn(_:)`` runs. Then the loop sleeps.
///
/// Sendable because all mutable state is atomic, or behind the mailbox's mutex, or used on the loop's thread only,
/// which `preconditionIsolated` checks at each entry. Before `start` there is no other thread.
public final class Loop: @unchecked Sendable {
    /// Duration of a tick of the deadlines.
    static let tickMilliseconds = 100

    /// The index of the loop in the process, from 0.
    public let index: Int
    /// The limits of its connections.
    public let limits: TransportLimits
    /// The bytes that connections of all loops keep for slow clients.
    public let unsent: ByteBudget
    let library: LibraryContext

    let mailbox = Mailbox()
    private let thread = Mutex<pthread_t?>(nil)
    /// The loop's thread, for identifying the current one; 0 before it starts.
    let identity = Atomic<pthread_t>(0)
    // libuv's structures: allocated once, initialized here, freed in `finish` after libuv has released them.
    let uv: UnsafeMutablePointer<uv_loop_t>
    let wakeup: UnsafeMutablePointer<uv_async_t>
    let ticker: UnsafeMutablePointer<uv_timer_t>
    private let turnEnd: UnsafeMutablePointer<uv_prepare_t>
    private let noSleep: UnsafeMutablePointer<uv_idle_t>
    /// The timer of ``every(_:_:)``.
    let intervalTimer: UnsafeMutablePointer<uv_timer_t>
    /// The timer by which the loop notices that it was away.
    private let pulse: UnsafeMutablePointer<uv_timer_t>

    // From here on: the loop's thread only.
    var wheel = TimerWheel<Wake>()
    var alarms = TimerWheel<() -> Void>(span: 64)
    private(set) var connections = ConnectionTable()
    var outlets = OutletTable()
    private var listeners: [Listener] = []
    var acceptPace: AcceptPace
    private(set) var isStopping = false
    private var aborted: [Connection] = []
    /// The connections of ``Connection/awaitTurn()``, in the order of the calls.
    var awaitingTurn: [Connection] = []
    private var turnEndings: [() -> Void] = []
    /// The work of ``every(_:_:)``.
    var intervalWork: (() -> Void)?
    var absence = Absence()
    /// The work taken out of the mailbox that has not run.
    var waiting: ArraySlice<Mailbox.Work> = []
    /// The latest reading of the clock, for ``moment``; `nil` if it is read again.
    var reading: Int64?

    /// Creates a loop that does nothing until ``start()``.
    ///
    /// - Parameters:
    ///   - index: its index among the loops of the process.
    ///   - tls: the TLS configuration, if there are to be encrypted connections.
    ///   - unsent: the shared budget of bytes kept for slow clients.
    init(index: Int, limits: TransportLimits, tls: ServerTLS?, unsent: ByteBudget) throws(TransportError) {
        self.index = index
        self.limits = limits
        self.unsent = unsent
        acceptPace = AcceptPace(rate: limits.acceptRate, burst: limits.acceptBurst)
        uv = .allocate(capacity: 1)
        guard uv_loop_init(uv) == 0 else { throw .unavailable("the system could not create an event loop") }
        do throws(TransportError) {
            library = try LibraryContext(uv: uv, limits: limits, tls: tls)
        } catch {
            _ = uv_loop_close(uv)
            throw error
        }
        wakeup = .allocate(capacity: 1)
        ticker = .allocate(capacity: 1)
        turnEnd = .allocate(capacity: 1)
        noSleep = .allocate(capacity: 1)
        intervalTimer = .allocate(capacity: 1)
        pulse = .allocate(capacity: 1)
        let this = Unmanaged.passUnretained(self).toOpaque()
        uv.pointee.data = this
        wakeup.pointee.data = this
        ticker.pointee.data = this
        intervalTimer.pointee.data = this
        pulse.pointee.data = this
        turnEnd.pointee.data = this
        uv_async_init(uv, wakeup) { handle in Loop.from(handle!.pointee.data).drainMailbox() }
        uv_timer_init(uv, ticker)
        uv_timer_init(uv, intervalTimer)
        uv_timer_init(uv, pulse)
        uv_idle_init(uv, noSleep)
        uv_prepare_init(uv, turnEnd)
        // Runs before the loop sleeps: after ready sockets, timers and libuv's close callbacks.
        uv_prepare_start(turnEnd) { handle in Loop.from(handle!.pointee.data).endTurn() }
    }

    // The pointer is the loop's own, set in `init`; the loop lives until its thread has left `uv_run`.
    static func from(_ data: UnsafeMutableRawPointer) -> Loop {
        Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue()
    }

    // MARK: The thread

    /// Starts the loop's thread. Call it once.
    func start() {
        thread.withLock { thread in
            var new = pthread_t()
            let this = Unmanaged.passRetained(self).toOpaque()
            let failed = pthread_create(
                &new, nil,
                { this in
                    // Balances the retain before `pthread_create`.
                    Unmanaged<Loop>.fromOpaque(this!).takeRetainedValue().run()
                    return nil
                }, this)
            precondition(failed == 0, "no thread could be started")
            thread = new
        }
    }

    /// Makes the loop close its listeners and connections and end its thread. Call it from any thread.
    ///
    /// Work posted before still runs, work posted after does not. Do not call an actor of this loop any more: the call
    /// would not return.
    public func stop() {
        post { self.beginStop() }
    }

    /// Waits for the thread to end. Do not call it on the loop itself.
    public func join() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }

    private func run() {
        identity.store(pthread_self(), ordering: .relaxed)
        backscroll_name_thread("loop \(index)")
        uv_update_time(uv)
        absence.note(at: time)
        let interval = UInt64(Absence.interval.roundedMilliseconds)
        uv_timer_start(
            pulse,
            { timer in
                let loop = Loop.from(timer!.pointee.data)
                loop.absence.note(at: loop.time)
            }, interval, interval)
        uv_run(uv, UV_RUN_DEFAULT)
        finish()
    }

    private func beginStop() {
        guard !isStopping else { return }
        isStopping = true
        closeListeners()
        for connection in connections.all { connection.destroy() }
        for case .job(let job) in mailbox.close() { run(job) }
        uv_stop(uv)
    }

    /// Frees a loop that was never started.
    func discard() {
        _ = mailbox.close()
        finish()
    }

    /// Lets libwebsockets and libuv close their handles, which takes turns of the loop.
    private func finish() {
        let handles = [
            UnsafeMutableRawPointer(wakeup), UnsafeMutableRawPointer(ticker), UnsafeMutableRawPointer(intervalTimer),
            UnsafeMutableRawPointer(turnEnd), UnsafeMutableRawPointer(noSleep), UnsafeMutableRawPointer(pulse),
        ]
        for handle in handles { uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), nil) }
        // The closures may hold the loop's owners, which would be a cycle.
        turnEndings = []
        intervalWork = nil
        alarms = TimerWheel(span: 64)
        aborted = []
        awaitingTurn = []
        guard library.destroy(turn: { [uv] in while uv_run(uv, UV_RUN_NOWAIT) != 0 {} }) else { return }
        let status = uv_loop_close(uv)
        assert(status == 0, "something is still open on the loop")
        for handle in handles { handle.deallocate() }
        uv.deallocate()
    }

    // MARK: Turns

    /// Runs `work` at the end of each turn of the loop, after all ready sockets were served.
    ///
    /// Use it to pass on everything that a turn has gathered as one batch, for example to the log.
    public func atEndOfTurn(_ work: @escaping () -> Void) {
        preconditionIsolated()
        turnEndings.append(work)
    }

    /// Makes the next turn begin at once, with any sockets that are then ready. Call it from work of
    /// ``atEndOfTurn(_:)``. It serves to gather sends into one commit (scenario A of `scripts/compare`).
    public func lookAgain() {
        // A loop with an active idle handle does not sleep. libuv calls it before the end of the next turn.
        uv_idle_start(noSleep) { handle in uv_idle_stop(handle) }
    }

    /// Destroys a connection at the end of this turn, when no call of it is on the stack.
    func destroyAtEndOfTurn(_ connection: Connection) {
        aborted.append(connection)
    }

    private func endTurn() {
        serveWaiting()
        // Handlers that are told of an end may gather more work, and that work may end more connections.
        repeat {
            for connection in exchange(&aborted, with: []) { connection.destroy() }
            for work in turnEndings { work() }
        } while !aborted.isEmpty
        // The loop sleeps next.
        reading = nil
    }

    // MARK: Connections

    /// Number of connections of the loop, including refused and outgoing ones.
    public var connectionCount: Int { connections.count }

    /// Serves the connections of a listening descriptor, which the loop then owns.
    func listen(
        _ descriptor: Int32, admitted: ConnectionCount, options: ListenerOptions,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) {
        preconditionIsolated()
        listeners.append(
            Listener(
                descriptor: descriptor, loop: self, uv: uv, admitted: admitted, options: options, makeHandler: handler))
    }

    /// Gives priority to connected clients for a second from now: while many long-lived clients arrive, new connections
    /// are delayed a little (scenario G of `scripts/compare`).
    public func prioritizeClients() {
        preconditionIsolated()
        acceptPace.prioritizeClients(at: .now)
    }

    /// Counts a long-lived client towards ``TransportLimits/acceptRate``. Such a client costs more than one that sends
    /// a request and leaves.
    public func clientStays() {
        preconditionIsolated()
        acceptPace.arrived(at: .now)
    }

    /// Takes back the count of a client that ``clientStays()`` has counted.
    public func clientLeft() {
        preconditionIsolated()
        acceptPace.left(at: .now)
    }

    private func closeListeners() {
        for listener in exchange(&listeners, with: []) { listener.close() }
    }

    /// Stops accepting, and tells every connection's handler that the server is stopping. Connections without a handler
    /// are aborted.
    func windDown() {
        closeListeners()
        for connection in connections.all { connection.shuttingDown() }
    }

    /// Connects to a server. Bytes written before the connection is established are sent afterwards. If it cannot be
    /// established, the handler is told that the connection is closed.
    ///
    /// - Parameters:
    ///   - tls: the TLS configuration; nil for no encryption.
    ///   - receiveBuffer: the size of the kernel's receive buffer in bytes; nil for the system's default.
    ///   - handler: creates the handler of the connection.
    /// - Returns: the connection, or nil if there is none, for example because the loop is stopping. No handler is then
    ///   created.
    /// - Throws: ``TransportError`` if the system provides no socket.
    @discardableResult
    public func connect(
        to address: PeerAddress, tls: ClientTLS? = nil, receiveBuffer: Int32? = nil,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) throws(TransportError) -> Connection? {
        preconditionIsolated()
        let session = try tls.map { tls throws(TransportError) in try ClientSession(tls) }
        let descriptor = try address.address.connect(receiveBuffer: receiveBuffer)
        return adopt(
            descriptor, peer: address.address.host, secure: false, count: nil, session: session, handler: handler)
    }

    /// Takes over a connected socket. It is closed if that fails.
    ///
    /// - Parameters:
    ///   - secure: True for the server's side of TLS.
    ///   - count: the number of admitted connections that it belongs to; it leaves it when it closes.
    ///   - session: the TLS session of an outgoing connection.
    @discardableResult
    func adopt(
        _ descriptor: Int32, peer: String, secure: Bool, count: ConnectionCount?, session: ClientSession? = nil,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) -> Connection? {
        let connection = connections.insert { slot, id in
            Connection(loop: self, slot: slot, id: id, peer: peer, isSecure: secure || session != nil, count: count)
        }
        guard !isStopping else {
            Glibc.close(descriptor)
            connection.didClose()
            return nil
        }
        guard library.adopt(descriptor, secure: secure, for: connection) else {
            connection.didClose()
            return nil
        }
        connection.session = session
        connection.flushSession()
        connection.begin(handler)
        return connection
    }

    func forget(_ connection: Connection) {
        connections.remove(connection.slot)
    }
}
