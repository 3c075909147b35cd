/// A buffer in which answers are put together, one after the other, so that each goes out in one write.
struct ScratchBuffer {
    /// The number of bytes that it keeps at most, 256 KiB: most answers are smaller, and the megabytes of a few are not
    /// held for ever.
    static let kept = 256 * 1024

    private var bytes: [UInt8] = []

    /// A buffer with room for most answers.
    init() {
        bytes.reserveCapacity(16 * 1024)
    }

    /// Takes the buffer, empty. Who takes one while it is in use gets another.
    mutating func take() -> [UInt8] {
        var taken = exchange(&bytes, with: [])
        taken.removeAll(keepingCapacity: true)
        return taken
    }

    /// Gives the buffer back when what is in it has been sent.
    mutating func giveBack(_ used: consuming [UInt8]) {
        if used.capacity <= Self.kept { bytes = used }
    }
}
