extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self = []
        append(copying: bytes)
    }

    /// Appends the bytes of a span with one copy.
    mutating func append(copying bytes: Span<UInt8>) {
        // The pointer does not leave the call, during which `bytes` is borrowed.
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
