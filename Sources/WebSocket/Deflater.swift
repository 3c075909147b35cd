import CZlib

/// Compresses whole messages, each by itself (RFC 7692 §7.2.1).
///
/// What a message becomes depends on nothing that was sent before it: the same bytes can go to every connection that
/// has agreed on ``PerMessageDeflate``, and no connection needs a compressor. One of these does for a thread.
public struct Deflater: ~Copyable {
    /// The base-2 logarithm of the window, unless somebody asks for another: 4 KiB, beyond which chat messages do not
    /// reach. On JSON of 200 to 4000 bytes the largest window, of 32 KiB, saves nothing, or not even a thousandth.
    public static let defaultWindowBits = 12

    /// More yields the same bytes for messages of up to 2000, and less takes hardly less time.
    private static let level: Int32 = 6
    /// A table of 8 KiB to be cleared for each message, and room for 2048 symbols. With less a longer message is cut into
    /// blocks, each with codes of its own; more gains nothing.
    private static let memoryLevel: Int32 = 5
    /// What ends a flush and is not sent: the length of an empty stored block (§7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// At a place of its own, because zlib keeps a pointer to it. Nobody else has one: this struct cannot be copied, and
    /// frees it at its end.
    private let stream: UnsafeMutablePointer<z_stream>

    /// A compressor, of about 40 KiB with the default window.
    ///
    /// - Parameter windowBits: the base-2 logarithm of how far back a message may refer to itself, 9 to 15: zlib cannot
    ///   do 8.
    public init(windowBits: Int = defaultWindowBits) {
        precondition(PerMessageDeflate.windowBits.contains(windowBits))
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = backscroll_deflate_init(stream, Self.level, Int32(windowBits), Self.memoryLevel)
        precondition(status == Z_OK, "zlib has no memory, or is another version than was built with")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends what the payload of a message becomes to `output`; at least one byte.
    public mutating func append(_ message: Span<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        deflateReset(stream)
        // The input is borrowed, and zlib's pointer to it is not used, for longer than this call.
        message.withUnsafeBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            // One round, but for messages that grow by more than zlib says they can.
            var room = Int(deflateBound(stream, UInt(input.count))) + 16
            repeat {
                output.append(addingCapacity: room) { _ = $0.append(from: stream, by: deflate) }
                room = 64
            } while stream.pointee.avail_out == 0
            stream.pointee.next_in = nil
        }
        assert(output.count > start + Self.tail.count && output.suffix(Self.tail.count).elementsEqual(Self.tail))
        output.removeLast(Self.tail.count)
    }
}
