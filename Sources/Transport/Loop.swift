import CLibwebsockets
import Glibc
import Synchronization

/// One thread that serves connections: a libuv loop with a libwebsockets context on it, and a serial executor.
///
/// A connection, its requests and its subscriptions belong to one loop and are used on its thread only, so they need
/// no locks. Other threads hand work over with ``post(_:)``, which is the one thing about a loop that they may call
/// (besides ``stop()`` and ``join()``); an actor may have the loop as its executor.
///
/// Sendable because all that changes is atomic, or behind the mailbox's mutex, or touched on the loop's thread only,
/// which `preconditionIsolated` holds at each entry; before `start` there is no other thread.
public final class Loop: @unchecked Sendable {
    /// A tick of deadlines.
    static let tickMilliseconds = 100

    /// The loop's place among the process's loops, from 0.
    public let index: Int
    /// The bounds of its connections.
    public let limits: TransportLimits
    let gate: Gate
    /// The bytes that connections of all loops keep for slow clients.
    public let unsent: ByteBudget
    let library: LibraryContext

    let mailbox = Mailbox()
    private let thread = Mutex<pthread_t?>(nil)
    /// The loop's thread, by which it is recognised; 0 before there is one.
    let identity = Atomic<pthread_t>(0)
    // libuv's own structures: allocated once, initialised here, freed in `finish` when libuv has let go of them.
    let uv: UnsafeMutablePointer<uv_loop_t>
    let wakeup: UnsafeMutablePointer<uv_async_t>
    let ticker: UnsafeMutablePointer<uv_timer_t>
    private let turnEnd: UnsafeMutablePointer<uv_prepare_t>
    private let wakefulness: UnsafeMutablePointer<uv_idle_t>
    /// Wakes the loop for ``every(_:_:)`` only.
    let metronome: UnsafeMutablePointer<uv_timer_t>

    // From here on: the loop's thread only.
    var wheel = TimerWheel<Wake>()
    var alarms = TimerWheel<() -> Void>(span: 64)
    private(set) var connections = ConnectionTable()
    private(set) var outlets = OutletTable()
    private var listeners: [Listener] = []
    var acceptPace: AcceptPace
    private(set) var isStopping = false
    private var doomed: [Connection] = []
    private var turnEndings: [() -> Void] = []
    private var interludes: [() -> Void] = []
    private var longInterludes: [() -> Void] = []
    /// The work of ``every(_:_:)``.
    var beat: (() -> Void)?
    private var isRunningInterludes = false
    private var regulars = Regulars()
    /// What was taken out of the mailbox and has not had its turn.
    var waiting: ArraySlice<Mailbox.Work> = []
    var isRunningUrgentWork = false
    /// When the sockets of this turn have been served for so long that urgent work goes first; `nil` before the first one.
    var urgentWorkDue: ContinuousClock.Instant?
    /// From when on this turn is a long one, if ``urgentWorkDue`` is set.
    var longTurnBegins = ContinuousClock.now

    /// A loop that does nothing yet: see ``start()``.
    ///
    /// - Parameters:
    ///   - index: its place among the loops of the process.
    ///   - tls: what its encrypted connections need, if there are to be any.
    ///   - gate: the common count of connections.
    ///   - unsent: the common bound of bytes kept for slow clients.
    init(index: Int, limits: TransportLimits, tls: ServerTLS?, gate: Gate, unsent: ByteBudget) throws(TransportError) {
        self.index = index
        self.limits = limits
        self.gate = gate
        self.unsent = unsent
        acceptPace = AcceptPace(rate: limits.acceptRate, burst: limits.acceptBurst)
        uv = .allocate(capacity: 1)
        guard uv_loop_init(uv) == 0 else { throw .unavailable("the system gives no event loop") }
        do throws(TransportError) {
            library = try LibraryContext(uv: uv, limits: limits, tls: tls)
        } catch {
            _ = uv_loop_close(uv)
            throw error
        }
        wakeup = .allocate(capacity: 1)
        ticker = .allocate(capacity: 1)
        turnEnd = .allocate(capacity: 1)
        wakefulness = .allocate(capacity: 1)
        metronome = .allocate(capacity: 1)
        let this = Unmanaged.passUnretained(self).toOpaque()
        uv.pointee.data = this
        wakeup.pointee.data = this
        ticker.pointee.data = this
        metronome.pointee.data = this
        turnEnd.pointee.data = this
        uv_async_init(uv, wakeup) { handle in Loop.from(handle!.pointee.data).drainMailbox() }
        uv_timer_init(uv, ticker)
        uv_timer_init(uv, metronome)
        uv_idle_init(uv, wakefulness)
        uv_prepare_init(uv, turnEnd)
        // Before the loop sleeps: after the sockets that were ready, and after timers and what libuv closes as well.
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

    /// Has the loop close its listeners and connections and end its thread. From any thread.
    ///
    /// What was posted before still runs, what is posted after does not. An actor of this loop must not be called any
    /// more: the call would not return.
    public func stop() {
        post { self.beginStop() }
    }

    /// Waits for the thread to end. Not on the loop itself.
    public func join() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }

    private func run() {
        identity.store(pthread_self(), ordering: .relaxed)
        backscroll_name_thread("loop \(index)")
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

    /// Gives back what a loop holds that was never started.
    func discard() {
        _ = mailbox.close()
        finish()
    }

    /// Lets libwebsockets and libuv close what they have open, which takes turns of the loop in between.
    private func finish() {
        uv_close(UnsafeMutableRawPointer(wakeup).assumingMemoryBound(to: uv_handle_t.self), nil)
        uv_close(UnsafeMutableRawPointer(ticker).assumingMemoryBound(to: uv_handle_t.self), nil)
        uv_close(UnsafeMutableRawPointer(metronome).assumingMemoryBound(to: uv_handle_t.self), nil)
        uv_close(UnsafeMutableRawPointer(turnEnd).assumingMemoryBound(to: uv_handle_t.self), nil)
        uv_close(UnsafeMutableRawPointer(wakefulness).assumingMemoryBound(to: uv_handle_t.self), nil)
        // They may hold what holds the loop.
        turnEndings = []
        interludes = []
        longInterludes = []
        beat = nil
        alarms = TimerWheel(span: 64)
        doomed = []
        guard library.destroy(turn: { [uv] in while uv_run(uv, UV_RUN_NOWAIT) != 0 {} }) else { return }
        let status = uv_loop_close(uv)
        assert(status == 0, "something is still open on the loop")
        wakeup.deallocate()
        ticker.deallocate()
        metronome.deallocate()
        turnEnd.deallocate()
        wakefulness.deallocate()
        uv.deallocate()
    }

    // MARK: Turns

    /// Has `work` run at the end of each turn of the loop, when every socket that was ready has been served.
    ///
    /// What a turn has gathered goes on from there in one piece, to the log for example.
    public func atEndOfTurn(_ work: @escaping () -> Void) {
        preconditionIsolated()
        turnEndings.append(work)
    }

    /// Has `work` run now and then between two sockets, behind urgent work, as it does between turns: something short.
    public func betweenSockets(_ work: @escaping () -> Void) {
        preconditionIsolated()
        interludes.append(work)
    }

    /// Has `work` run now and then in a turn that takes long, between two sockets, when clients that ask again and again have
    /// been read from: thousands that come or go at once are served in one turn, a quarter of a second.
    public func inLongTurns(_ work: @escaping () -> Void) {
        preconditionIsolated()
        longInterludes.append(work)
    }

    /// Does what can be done between two sockets, so that it need not wait for a turn that takes long.
    func runInterludes(isLong: Bool) {
        // Not within itself either: clients that ask as fast as they are answered would never let it end.
        guard !isRunningInterludes, !isRunningUrgentWork, !isStopping else { return }
        isRunningInterludes = true
        defer { isRunningInterludes = false }
        for work in interludes { work() }
        guard isLong else { return }
        // A larger request is read to its end when its socket has its turn.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            for (slot, id) in regulars.all { connections[slot, id]?.readNow(into: buffer) }
        }
        for work in longInterludes { work() }
    }

    func addRegular(_ connection: Connection) {
        guard let (slot, id) = regulars.add(slot: connection.slot, id: connection.id) else { return }
        connections[slot, id]?.isRegular = false
    }

    /// Has the next turn begin at once, with the sockets that are ready then, if there are any. From what runs
    /// ``atEndOfTurn(_:)``.
    public func lookAgain() {
        // A loop with an idle handle does not sleep; libuv calls it before the turn ends the next time.
        uv_idle_start(wakefulness) { handle in uv_idle_stop(handle) }
    }

    /// Destroys a connection when nothing of it is on the stack any more: at the end of this turn.
    func doom(_ connection: Connection) {
        doomed.append(connection)
    }

    private func endTurn() {
        urgentWorkDue = nil
        // Handlers that hear of an end may gather more work, and that work may end more connections.
        repeat {
            for connection in exchange(&doomed, with: []) { connection.destroy() }
            for work in turnEndings { work() }
        } while !doomed.isEmpty
    }

    // MARK: Connections

    /// How many connections the loop serves, those that it refuses and those that it has made itself among them.
    public var connectionCount: Int { connections.count }

    /// Serves sockets of this listening descriptor, which the loop owns from now on.
    func listen(
        _ descriptor: Int32, gate: Gate, options: ListenerOptions,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) {
        preconditionIsolated()
        listeners.append(
            Listener(descriptor: descriptor, loop: self, uv: uv, gate: gate, options: options, makeHandler: handler))
    }

    /// Has new connections wait a little where many clients come to stay, for a second from now: those who are being served
    /// come first.
    public func favourClients() {
        preconditionIsolated()
        acceptPace.favourClients(at: .now)
    }

    /// Says that a connection's client is one that stays: it costs more than one that asks for something and goes.
    public func clientStays() {
        preconditionIsolated()
        acceptPace.arrived(at: .now)
    }

    private func closeListeners() {
        for listener in exchange(&listeners, with: []) { listener.close() }
    }

    /// Stops accepting, and has every connection's handler say goodbye.
    func windDown() {
        closeListeners()
        for connection in connections.all { connection.shuttingDown() }
    }

    /// Connects to a server. What is written before the connection stands is sent when it does; when it
    /// cannot be made, the handler is told that the connection is closed.
    ///
    /// - Parameters:
    ///   - tls: what encrypts the connection; nil: nothing does.
    ///   - receiveBuffer: the bytes that the kernel may hold unread; nil: as many as it likes.
    ///   - handler: makes what serves the connection.
    /// - Returns: the connection, or nil when there is none, because the loop is stopping say; no handler is made then.
    /// - Throws: ``TransportError`` when the system has no socket to give.
    @discardableResult
    public func connect(
        to address: PeerAddress, tls: ClientTLS? = nil, receiveBuffer: Int32? = nil,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) throws(TransportError) -> Connection? {
        preconditionIsolated()
        let session = tls.map(ClientSession.init)
        if case .some(nil) = session { throw .unavailable("OpenSSL made no connection") }
        let descriptor = try address.address.connect(receiveBuffer: receiveBuffer)
        return adopt(
            descriptor, peer: address.address.host, secure: false, place: nil, session: session ?? nil,
            handler: handler)
    }

    /// Takes over a connected socket, which is closed when that fails.
    ///
    /// - Parameters:
    ///   - secure: whether it is the server's side of TLS.
    ///   - place: the gate behind which it holds a place, which it gives back when it closes.
    ///   - session: the client's side of TLS, if it is that.
    @discardableResult
    func adopt(
        _ descriptor: Int32, peer: String, secure: Bool, place: Gate?, session: ClientSession? = nil,
        handler: @escaping (Connection) -> any ConnectionHandler
    ) -> Connection? {
        let connection = connections.insert { slot, id in
            Connection(loop: self, slot: slot, id: id, peer: peer, isSecure: secure || session != nil, place: place)
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

    /// Has ``push(_:to:)`` write to this descriptor, or with `nil` to none.
    func setOutlet(of connection: Connection, to descriptor: Int32?) {
        outlets.set(connection.outlet, to: descriptor)
    }

    func forget(_ connection: Connection) {
        connections.remove(connection.slot)
    }
}
