import Chat
import HTTP
import HTTPTypes
import Wire

/// Entity tags of messages (RFC 9110, section 8.8.3): the revision in quotes. They are strong, because a snapshot has
/// the same bytes for every caller.
extension StoredMessage {
    /// The entity tag of the message's current snapshot.
    var entityTag: String { "\"\(rev)\"" }

    /// Appends the entity tag as a header field with its CRLF.
    func appendEntityTag(to lines: inout [UInt8]) {
        lines.append(literal: "ETag: \"")
        lines.append(decimal: rev)
        lines.append(literal: "\"\r\n")
    }
}

extension HeaderFields {
    /// The revisions in `If-Match` (RFC 9110, section 13.1.1); `nil` if the request accepts any.
    var ifMatchRevisions: [Int64]? {
        let tags = elements(of: .ifMatch)
        guard contains(.ifMatch), !tags.contains("*") else { return nil }
        // Text that is not a revision's tag matches none, and neither does a weak tag, which does not identify exact
        // bytes.
        return tags.compactMap(Int64.init(entityTag:))
    }

    /// Returns true if `If-None-Match` names the entity tag, strong or weak, or is `*` (RFC 9110, section 13.1.2): then
    /// the client already has the content.
    func ifNoneMatchNames(_ tag: String) -> Bool {
        contains(.ifNoneMatch)
            && elements(of: .ifNoneMatch).contains { $0 == "*" || ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0) == tag }
    }
}

extension Int64 {
    /// Reads a strong entity tag of a revision: the number in quotes, exactly as answers write it.
    fileprivate init?(entityTag tag: Substring) {
        guard tag.count > 2, tag.first == "\"", tag.last == "\"", let rev = Int64(tag.dropFirst().dropLast()),
            "\"\(rev)\"" == tag
        else { return nil }
        self = rev
    }
}
