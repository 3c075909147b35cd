import CLibwebsockets

/// The loop's clock and timers.
extension Loop {
    /// A scheduled check of a connection.
    struct Wake {
        var slot: Int
        var id: UInt64
        var tick: Int
    }

    /// The loop's clock in ticks, as of the beginning of this turn.
    var now: Int { Int(uv_now(uv)) / Loop.tickMilliseconds }

    /// The loop's clock in milliseconds since an arbitrary moment, as of the beginning of this turn.
    public var time: Duration { .milliseconds(Int64(uv_now(uv))) }

    /// The time in nanoseconds since an arbitrary moment, for measurements that are made for each request.
    ///
    /// The clock is read at most once for each socket that is served and each piece of posted work. So the time is that
    /// of the beginning of what the loop does at present, unless ``readClock()`` was called since.
    public var moment: Int64 { reading ?? readClock() }

    /// Reads the clock for ``moment``.
    @discardableResult
    public func readClock() -> Int64 {
        let now = Int64(uv_hrtime())
        reading = now
        return now
    }

    /// True shortly after the loop did not run for a second or more, because the process was stopped or had no processor.
    /// Bytes that are read now may have arrived long ago, see ``Connection/silence``.
    public var wasAway: Bool { absence.isRecent(at: time) || turnTime >= Absence.shortest }

    /// The time since the beginning of this turn. It is long if the process was stopped in the turn.
    private var turnTime: Duration { .nanoseconds(Int64(uv_hrtime())) - time }

    /// Runs `work` on the loop once this much time has passed since the beginning of this turn: up to two ticks of 100
    /// ms late, never early. It does not run if the loop stops before.
    public func after(_ duration: Duration, _ work: @escaping () -> Void) {
        preconditionIsolated()
        startTicker()
        if alarms.isEmpty { alarms.restart(at: now) }
        alarms.insert(work, at: tick(after: duration))
    }

    /// Runs `work` repeatedly at this interval, of at least a millisecond, replacing any earlier one. An idle loop
    /// sleeps in between.
    func every(_ interval: Duration, _ work: @escaping () -> Void) {
        preconditionIsolated()
        intervalWork = work
        let milliseconds = UInt64(max(1, interval.roundedMilliseconds))
        uv_timer_start(intervalTimer, { Loop.from($0!.pointee.data).intervalWork?() }, milliseconds, milliseconds)
    }

    /// Returns the first tick after this much time has passed.
    func tick(after duration: Duration) -> Int {
        let due = Int(uv_now(uv)) + duration.roundedMilliseconds
        return max(now + 1, (due + Loop.tickMilliseconds - 1) / Loop.tickMilliseconds)
    }

    func wake(_ connection: Connection, at tick: Int) {
        startTicker()
        if wheel.isEmpty { wheel.restart(at: now) }
        wheel.insert(Wake(slot: connection.slot, id: connection.id, tick: tick), at: tick)
    }

    private func startTicker() {
        guard wheel.isEmpty, alarms.isEmpty else { return }
        let period = UInt64(Loop.tickMilliseconds)
        uv_timer_start(ticker, { Loop.from($0!.pointee.data).tick() }, period, period)
    }

    private func tick() {
        for wake in wheel.advance(to: now) { connections[wake.slot, wake.id]?.tickReached(wake.tick) }
        for work in alarms.advance(to: now) { work() }
        if wheel.isEmpty, alarms.isEmpty { uv_timer_stop(ticker) }
    }
}
