import HTTP
import HTTPTypes

/// Content that is the same for everybody as long as the process runs.
struct StaticContent: Sendable {
    let bytes: [UInt8]
    let contentType: String
    /// The entity tag: other bytes have another one.
    let tag: String

    init(_ bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
        // FNV-1a (draft-eastlake-fnv), which is the same in every process, unlike the standard library's hash.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        tag = "\"\(String(hash, radix: 16))\""
    }
}

extension Exchange {
    /// Answers with content that clients may keep, if they ask each time whether it is still the same.
    func answer(_ content: StaticContent) {
        add(.eTag, content.tag)
        add(.cacheControl, "no-cache")
        let isKnown = request.headerFields.ifNoneMatchNames(content.tag)
        answer(isKnown ? .notModified : .ok, contentType: content.contentType, body: content.bytes.span)
    }
}
