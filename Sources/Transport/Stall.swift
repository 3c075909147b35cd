/// The reason why nothing more should be written to a connection: its client has not taken yet what there is.
struct Stall {
    /// How often we look, in the time that a client may take nothing, whether it has taken more.
    static let looks = 4

    /// The next tick at which to look.
    var nextLook: Int
    /// The number of bytes that the client's kernel had acknowledged when we looked last.
    private var acknowledged: UInt64
    /// How often we look again before we give up. Looks are counted, and not time: if the loop itself was late, that is
    /// not the client's fault.
    private var looksLeft = Stall.looks

    init(acknowledged: UInt64, nextLook: Int) {
        self.acknowledged = acknowledged
        self.nextLook = nextLook
    }

    /// Looks at how many bytes have been acknowledged by now.
    ///
    /// - Returns: whether there is hope left.
    mutating func look(acknowledged now: UInt64, nextLook: Int) -> Bool {
        looksLeft = now == acknowledged ? looksLeft - 1 : Stall.looks
        acknowledged = now
        self.nextLook = nextLook
        return looksLeft > 0
    }
}
