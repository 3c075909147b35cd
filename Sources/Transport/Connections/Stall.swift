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
