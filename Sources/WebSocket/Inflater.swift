import CZlib

/// Decompresses whole messages, each by itself (RFC 7692 §7.2.2).
///
/// zlib takes 40 KiB while a message is read, so this is made for a message and is gone after it: a connection that
/// waits has none.
struct Inflater: ~Copyable {
    /// What the sender took off the message's end (§7.2.2).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// At a place of its own, because zlib keeps a pointer to it. Nobody else has one: this struct cannot be copied, and
    /// frees it at its end.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // With the largest window whatever a peer sends can be read.
        let status = backscroll_inflate_init(stream, Int32(PerMessageDeflate.windowBits.upperBound))
        precondition(status == Z_OK, "zlib has no memory, or is another version than was built with")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// The message that `payload` was made of.
    ///
    /// - Parameters:
    ///   - payload: that of all the message's frames.
    ///   - limit: the most bytes that the message may have. No more memory than that is taken for it, whatever the
    ///     payload would become.
    /// - Throws: 1009 for a longer message, 1007 for a payload that is not, or not all of, a compressed message.
    consuming func inflate(_ payload: Span<UInt8>, limit: Int) throws(WebSocketError) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(min(limit, 4 * payload.count))
        var hasEnded = try inflate(payload, to: &message, limit: limit)
        // A final block may end the payload, although a sender should have put another one behind it (§7.2.3.4).
        if !hasEnded {
            hasEnded = try inflate(Self.tail.span, to: &message, limit: limit)
            // zlib says with this bit that it is between two blocks. Elsewhere the tail has been read as something else.
            guard hasEnded || stream.pointee.data_type & 128 != 0 else { throw .cannotBeInflated }
        }
        return message
    }

    /// Reads all of `input`.
    ///
    /// - Returns: whether it ended together with a final block.
    private func inflate(
        _ input: Span<UInt8>, to message: inout [UInt8], limit: Int
    ) throws(WebSocketError) -> Bool {
        // The input is borrowed, and zlib's pointer to it is not used, for longer than this call.
        try input.withUnsafeBufferPointer { input throws(WebSocketError) in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            defer { stream.pointee.next_in = nil }
            while true {
                // One byte more than may be, to see whether there is one.
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
                    // With room left zlib has come to the end of its input.
                    if stream.pointee.avail_out > 0 { return false }
                default:
                    throw .cannotBeInflated
                }
            }
        }
    }
}
