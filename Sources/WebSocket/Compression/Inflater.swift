import CZlib

/// Decompresses messages independently of each other (RFC 7692 §7.2.2).
///
/// Create one per message and discard it afterwards: zlib takes 40 KiB, which idle connections must not hold.
struct Inflater: ~Copyable {
    /// The bytes that the sender removed from the end of the message (§7.2.2).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Allocated separately, because zlib keeps a pointer to it. This struct is its only owner: it cannot be copied,
    /// and its deinit frees the memory.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // The largest window can read the output of any smaller one.
        let status = backscroll_inflate_init(stream, Int32(PerMessageDeflate.windowBits.upperBound))
        precondition(status == Z_OK, "zlib has no memory, or is another version than was built with")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Returns the decompressed message.
    ///
    /// - Parameters:
    ///   - payload: the payloads of all frames of the message, joined.
    ///   - limit: maximum number of bytes of the message. Memory use is bounded by it, whatever the payload expands to.
    /// - Throws: 1009 for a longer message, 1007 for a payload that is not a complete compressed message.
    consuming func inflate(_ payload: Span<UInt8>, limit: Int) throws(WebSocketError) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(min(limit, 4 * payload.count))
        var hasEnded = try inflate(payload, to: &message, limit: limit)
        // A final block may end the payload, although a sender should add an empty one after it (§7.2.3.4).
        if !hasEnded {
            hasEnded = try inflate(Self.tail.span, to: &message, limit: limit)
            // zlib sets this bit between two blocks. Elsewhere the tail has been read as part of a block.
            guard hasEnded || stream.pointee.data_type & 128 != 0 else { throw .cannotBeInflated }
        }
        return message
    }

    /// Decompresses all of `input`.
    ///
    /// - Returns: true if it ended exactly with a final block.
    private func inflate(
        _ input: Span<UInt8>, to message: inout [UInt8], limit: Int
    ) throws(WebSocketError) -> Bool {
        // The input is borrowed, and zlib's pointer to it is not used beyond this call.
        try input.withUnsafeBufferPointer { input throws(WebSocketError) in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            defer { stream.pointee.next_in = nil }
            while true {
                // One byte more than the limit, to detect a longer message.
                let room = min(limit + 1 - message.count, max(message.capacity - message.count, message.count, 512))
                var status = Z_OK
                message.append(addingCapacity: room) { status = $0.append(from: stream, by: CZlib.inflate) }
                guard message.count <= limit else { throw .messageTooBig(limit: limit) }
                switch status {
                case Z_STREAM_END where stream.pointee.avail_in == 0:
                    return true
                case Z_STREAM_END:
                    inflateReset(stream)
                case Z_OK, Z_BUF_ERROR:
                    // If there is room left, zlib has consumed its input.
                    if stream.pointee.avail_out > 0 { return false }
                default:
                    throw .cannotBeInflated
                }
            }
        }
    }
}
