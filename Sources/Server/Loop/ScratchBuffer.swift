/// A reusable buffer in which answers are assembled, so that each goes out in one write.
struct ScratchBuffer {
    /// Maximum capacity that is kept, 256 KiB. Most answers are smaller, and memory for a few large ones is released.
    static let kept = 256 * 1024

    private var bytes: [UInt8] = []

    /// Creates a buffer with room for most answers.
    init() {
        bytes.reserveCapacity(16 * 1024)
    }

    /// Takes the buffer, empty. If it is already taken, returns a new one.
    mutating func take() -> [UInt8] {
        var taken = exchange(&bytes, with: [])
        taken.removeAll(keepingCapacity: true)
        return taken
    }

    /// Returns the buffer after its contents were sent.
    mutating func giveBack(_ used: consuming [UInt8]) {
        if used.capacity <= Self.kept { bytes = used }
    }
}
