extension [UInt8] {
    /// The bytes of a span.
    init(copying bytes: Span<UInt8>) {
        self = []
        append(copying: bytes)
    }

    /// Appends the bytes of a span in one copy.
    mutating func append(copying bytes: Span<UInt8>) {
        // The pointer does not leave the call, for the whole of which `bytes` is borrowed.
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
