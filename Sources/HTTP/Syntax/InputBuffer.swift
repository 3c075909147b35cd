/// Bytes that have arrived and are not yet understood.
///
/// Reading is cheap however the bytes come: consuming moves a mark, appending closes the gap before the mark only when
/// it is at least as long as what is left, and an empty buffer holds no memory at all, so that ten thousand idle
/// connections hold none.
struct InputBuffer: Sendable {
    /// What has arrived. What lies before ``start`` has been consumed.
    private(set) var bytes: [UInt8] = []
    /// Where the unread bytes begin in ``bytes``.
    private(set) var start = 0

    /// The number of bytes that are unread.
    var count: Int { bytes.count - start }

    var isEmpty: Bool { bytes.count == start }

    mutating func append(_ span: Span<UInt8>) {
        guard !span.isEmpty else { return }
        // Each byte moved here pays for one that was consumed, so the cost of a byte stays constant.
        if start > 0, start >= count {
            bytes.removeFirst(start)
            start = 0
        }
        // The usual case is one read of one message: then exactly its size is allocated.
        if bytes.isEmpty { bytes.reserveCapacity(span.count) }
        bytes.append(copying: span)
    }

    /// Marks the first `count` unread bytes as read.
    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count)
        start += count
        if start == bytes.count { removeAll() }
    }

    /// Moves up to `limit` unread bytes to the end of `target`.
    mutating func move(atMost limit: Int, to target: inout [UInt8]) {
        let length = min(limit, count)
        target.append(copying: bytes.span.extracting(start..<start + length))
        consume(length)
    }

    /// The first `length` unread bytes, taken out.
    mutating func take(_ length: Int) -> [UInt8] {
        if start == 0, length == bytes.count {
            defer { removeAll() }
            return bytes
        }
        let taken = Array(bytes[start..<start + length])
        consume(length)
        return taken
    }

    /// Gives back the memory of what has been read; called when all that could be understood has been.
    mutating func trim() {
        guard start > 0 else { return }
        bytes = Array(bytes[start...])
        start = 0
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}
