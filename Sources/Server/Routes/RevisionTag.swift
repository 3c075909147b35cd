import Chat
import HTTP
import HTTPTypes
import Wire

/// A message's revision as its entity tag (RFC 9110, section 8.8.3): the number in quotes, a strong one, for a snapshot
/// has the same bytes for everybody.
extension Exchange {
    /// Answers with a message.
    func answer(_ status: HTTPResponse.Status, _ message: Stored) {
        lines.append(literal: "ETag: \"")
        lines.append(decimal: message.rev)
        lines.append(literal: "\"\r\n")
        answer(status, body: message.body.span)
    }
}

extension Stored {
    /// The entity tag of the message as it is now.
    var entityTag: String { "\"\(rev)\"" }
}

extension RevisionCondition {
    /// What `If-Match` asks for (RFC 9110, section 13.1.1); `nil` when any revision will do.
    init?(_ fields: HeaderFields) {
        let tags = fields.elements(of: .ifMatch)
        guard fields.contains(.ifMatch), !tags.contains("*") else { return nil }
        // What is no tag of a revision matches none; neither does a weak one, which speaks of no bytes in particular.
        self.init(revs: tags.compactMap(Int64.init(entityTag:)))
    }
}

extension HeaderFields {
    /// Returns whether `If-None-Match` names an entity tag, as a strong one or a weak one, or with `*` any (RFC 9110,
    /// section 13.1.2): then the client has what would be answered.
    func ifNoneMatchNames(_ tag: String) -> Bool {
        contains(.ifNoneMatch)
            && elements(of: .ifNoneMatch).contains { $0 == "*" || ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0) == tag }
    }
}

extension Int64 {
    /// The revision of which this is the strong entity tag: the number in quotes, as it is written in answers.
    fileprivate init?(entityTag tag: Substring) {
        guard tag.count > 2, tag.first == "\"", tag.last == "\"", let rev = Int64(tag.dropFirst().dropLast()),
            "\"\(rev)\"" == tag
        else { return nil }
        self = rev
    }
}
