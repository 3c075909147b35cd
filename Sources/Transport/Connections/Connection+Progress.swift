import CLibwebsockets
import Glibc

/// The deadlines of a connection, and the progress of its client.
extension Connection {
    /// Sets the time after which the handler is called, replacing any earlier one; `nil` for never.
    ///
    /// The resolution is a tick of 100 ms, and times count from the beginning of the loop's turn. The call may be up to
    /// two ticks late, and early by the duration of the turn.
    public func setDeadline(_ after: Duration?) {
        guard state == .open else { return }
        deadline = after.map(loop.tick(after:))
        if let deadline { schedule(at: deadline) }
    }

    func schedule(at tick: Int) {
        if let scheduled, scheduled <= tick { return }
        scheduled = tick
        loop.wake(self, at: tick)
    }

    /// Checks the deadline and the client's progress at a tick that was scheduled for this connection.
    func tickReached(_ tick: Int) {
        guard scheduled == tick, state != .aborting, state != .closed else { return }
        scheduled = nil
        guard isProgressing else {
            end = .stalled
            return abort()
        }
        if let due = deadline, due <= loop.now {
            deadline = nil
            if state == .lingering { return abort() }
            handler?.deadlineReached(self)
        }
        if let look = stall?.nextLook { schedule(at: look) }
        if let deadline { schedule(at: deadline) }
    }

    /// False once a stalled client has made no progress within the time limit.
    private var isProgressing: Bool {
        // A copy: if any access to the property took time, each one would be checked for exclusivity, on every request.
        guard var stall, stall.nextLook <= loop.now else { return true }
        defer { self.stall = stall }
        return stall.look(acknowledged: acknowledgedBytes, nextLook: nextLook)
    }

    /// Makes the system end the connection if sent bytes are not acknowledged for this long, as when the client's
    /// machine is gone (`TCP_USER_TIMEOUT`). It has no effect while nothing is sent. The resolution is a millisecond.
    public func setAcknowledgementTimeout(_ timeout: Duration) {
        guard let wsi else { return }
        var milliseconds = UInt32(clamping: max(1, timeout.roundedMilliseconds))
        setsockopt(
            lws_get_socket_fd(wsi), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
            socklen_t(MemoryLayout<UInt32>.size))
    }

    /// Number of bytes that the peer's kernel has acknowledged. It distinguishes a slow connection from a dead one.
    var acknowledgedBytes: UInt64 {
        guard let wsi else { return 0 }
        return backscroll_bytes_acknowledged(lws_get_socket_fd(wsi))
    }

    /// The time since the peer's last bytes arrived in the kernel; `nil` if the peer has closed its sending side, or if
    /// the connection has ended.
    public var silence: Duration? {
        guard let wsi, state == .open else { return nil }
        let milliseconds = backscroll_silence(lws_get_socket_fd(wsi))
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    /// The tick of the next check of a stalled client's progress.
    var nextLook: Int { loop.tick(after: loop.limits.noProgress / Stall.looks) }
}

/// The backpressure state of a connection: its client has not yet read all bytes that were sent.
struct Stall {
    /// Number of checks for progress within the time limit.
    static let looks = 4

    /// The tick of the next check.
    var nextLook: Int
    /// Number of bytes that the client's kernel had acknowledged at the last check.
    private var acknowledged: UInt64
    /// Number of checks without progress until the connection is given up. Checks are counted instead of time, so that
    /// a delay of the loop is not held against the client.
    private var looksLeft = Stall.looks

    init(acknowledged: UInt64, nextLook: Int) {
        self.acknowledged = acknowledged
        self.nextLook = nextLook
    }

    /// Checks the number of acknowledged bytes.
    ///
    /// - Returns: false if the connection must be given up.
    mutating func look(acknowledged now: UInt64, nextLook: Int) -> Bool {
        looksLeft = now == acknowledged ? looksLeft - 1 : Stall.looks
        acknowledged = now
        self.nextLook = nextLook
        return looksLeft > 0
    }
}
