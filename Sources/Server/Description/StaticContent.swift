import CZlib
import HTTP
import HTTPTypes

/// Content that stays the same for all callers while the process runs.
struct StaticContent: Sendable {
    let bytes: [UInt8]
    /// The content compressed with gzip (RFC 1952).
    let compressed: [UInt8]
    let contentType: String
    /// The entity tag, a hash of the bytes.
    let tag: String

    /// The media types of archives and pictures, which are compressed as they are.
    static let archive = "application/gzip"
    static let picture = "image/png"

    /// True if the content is compressed as it is, so that compressing it again would only make it longer.
    let isCompressed: Bool

    init(_ bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
        tag = Self.tag(of: bytes)
        isCompressed = contentType == Self.archive || contentType == Self.picture
        compressed = isCompressed ? bytes : gzip(bytes)
    }

    /// Returns a hash of bytes for an entity tag.
    static func tag(of bytes: [UInt8]) -> String {
        // FNV-1a (draft-eastlake-fnv). Unlike the standard library's hash it is the same in every process.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

extension HeaderFields {
    /// True if `Accept-Encoding` names gzip, and not with a weight of 0 (RFC 9110, section 12.5.3).
    var acceptsGzip: Bool {
        elements(of: .acceptEncoding).contains { element in
            let parts = element.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            guard parts.first == "gzip" || parts.first == "*" else { return false }
            return !parts.dropFirst().contains { $0.hasPrefix("q=0") && !$0.contains { ("1"..."9").contains($0) } }
        }
    }
}

/// Compresses bytes with gzip at the highest level, since each content is compressed only once.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    precondition(backscroll_gzip_init(&stream, Z_BEST_COMPRESSION) == Z_OK, "there is no memory for compression")
    defer { deflateEnd(&stream) }
    let bound = Int(deflateBound(&stream, UInt(bytes.count)))
    // zlib reads and writes within these two buffers only, which outlive the call.
    return bytes.withUnsafeBufferPointer { input in
        [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(bound)
            let result = deflate(&stream, Z_FINISH)
            precondition(result == Z_STREAM_END, "the bound of the compressed size holds")
            count = bound - Int(stream.avail_out)
        }
    }
}
