/// Received bytes that are not yet parsed.
///
/// Consuming moves an index. Appending moves the unread bytes to the front only if at least as many were consumed, so
/// the cost per byte is constant. An empty buffer holds no memory, so idle connections cost none.
struct InputBuffer: Sendable {
    /// The received bytes. Those before ``start`` have been consumed.
    private(set) var bytes: [UInt8] = []
    /// The index of the first unread byte in ``bytes``.
    private(set) var start = 0

    /// Number of unread bytes.
    var count: Int { bytes.count - start }

    var isEmpty: Bool { bytes.count == start }

    mutating func append(_ span: Span<UInt8>) {
        guard !span.isEmpty else { return }
        if start > 0, start >= count {
            bytes.removeFirst(start)
            start = 0
        }
        // Usually one read has one message: allocate exactly its size.
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

    /// Removes and returns the first `length` unread bytes.
    mutating func take(_ length: Int) -> [UInt8] {
        if start == 0, length == bytes.count {
            defer { removeAll() }
            return bytes
        }
        let taken = Array(bytes[start..<start + length])
        consume(length)
        return taken
    }

    /// Frees the memory of consumed bytes. Call it once no more of the input can be parsed.
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
