import CZlib

/// Compresses messages independently of each other (RFC 7692 §7.2.1).
///
/// The output depends only on the message, so the same bytes can go to every connection that has negotiated
/// ``PerMessageDeflate``. No connection needs a compressor of its own; one per thread is enough.
public struct Deflater: ~Copyable {
    /// The default base-2 logarithm of the window: 4 KiB, which few chat messages exceed. On JSON of 200 to 4000 bytes,
    /// the largest window of 32 KiB saves less than 0.1 %.
    public static let defaultWindowBits = 12

    /// The compression level. Higher levels give the same output for messages up to 2000 bytes, lower ones save little
    /// time.
    private static let level: Int32 = 6
    /// The memory level: a hash table of 8 KiB, which is cleared for each message, and room for 2048 symbols. A smaller
    /// level splits longer messages into blocks with their own codes; a larger one gains nothing.
    private static let memoryLevel: Int32 = 5
    /// The empty stored block at the end of a flush, which is not sent (§7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Allocated separately, because zlib keeps a pointer to it. This struct is its only owner: it cannot be copied,
    /// and its deinit frees the memory.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a compressor, which takes about 40 KiB with the default window.
    ///
    /// - Parameter windowBits: the base-2 logarithm of the maximum distance of back-references, 9 to 15. zlib does not
    ///   support 8.
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

    /// Appends the compressed payload of a message to `output`: at least one byte.
    public mutating func append(_ message: Span<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        deflateReset(stream)
        // The input is borrowed, and zlib's pointer to it is not used beyond this call.
        message.withUnsafeBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            // One iteration is enough, except for messages that grow beyond zlib's bound.
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
