import Chat
import DescriptionFiles
import HTTP
import HTTPTypes
import TextSearch
import Wire

/// The description of the API as `GET /openapi.json` answers it: OpenAPI 3.1.
///
/// `Sources/Description/openapi.json` is the description, except for what the program knows better. There
/// - `{{name}}` stands for a number of ``placeholders``,
/// - `{"$ref": "#/x-scalars/UserID"}` stands for a schema that is repeated where it is used, because client generators
///   make a type of every schema that has a name,
/// - `x-refusals` lists the codes of an operation's refusals beside those that every operation like it has; see
///   ``APIRefusals``.
///
/// The callers of an operation are those of its ``Route``.
///
/// A server with keys and one in open mode have different descriptions.
struct APIDescription {
    /// True if callers authenticate with tokens. In open mode they state a name instead.
    let wantsTokens: Bool

    /// True if this listener serves `/metrics`; false if it has a listener of its own.
    var hasMetrics = true

    /// Returns the description of a server in the given mode, encoded once per process.
    static func content(wantsTokens: Bool, hasMetrics: Bool) -> StaticContent {
        switch (wantsTokens, hasMetrics) {
        case (false, true): open
        case (true, true): withTokens
        case (false, false): openWithoutMetrics
        case (true, false): withTokensWithoutMetrics
        }
    }

    private static let withTokens = APIDescription(wantsTokens: true).content
    private static let open = APIDescription(wantsTokens: false).content
    private static let withTokensWithoutMetrics = APIDescription(wantsTokens: true, hasMetrics: false).content
    private static let openWithoutMetrics = APIDescription(wantsTokens: false, hasMetrics: false).content

    private var content: StaticContent {
        var bytes: [UInt8] = []
        document.write(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return StaticContent(bytes, contentType: Exchange.ContentType.json)
    }

    // MARK: The source

    /// The numbers and texts that the source names as `{{name}}`.
    static let placeholders: [String: JSONValue] = [
        "version": .string(Version.current),
        "userIDBytes": .number(UserID.maximumBytes),
        "epochBytes": .number(SincePosition.maximumEpochBytes),
        "textBytes": .number(Limits.textBytes),
        "dataBytes": .number(Limits.dataBytes),
        "dataDepth": .number(Limits.dataDepth),
        "attachments": .number(Limits.attachments),
        "attachmentStringBytes": .number(Limits.attachmentStringBytes),
        "mentions": .number(Limits.mentions),
        "clientMessageIDBytes": .number(Limits.clientMessageIDBytes),
        "reactionKeyBytes": .number(Limits.reactionKeyBytes),
        "reactionUsers": .number(Limits.reactionUsers),
        "reactingUsers": .number(Limits.reactingUsers),
        "defaultReactingUsers": .number(Limits.defaultReactingUsers),
        "titleBytes": .number(Limits.titleBytes), "slowSeconds": .number(Limits.slowSeconds),
        "keepDays": .number(Limits.keepDays), "avatarBytes": .number(Limits.avatarBytes),
        "roomDataBytes": .number(Limits.roomDataBytes), "pins": .number(Limits.pins),
        "members": .number(Limits.members),
        "defaultMembers": .number(Limits.defaultMembers),
        "reports": .number(Limits.reports),
        "defaultReports": .number(Limits.defaultReports),
        "reportEntries": .number(Limits.reportEntries),
        "reportNoteBytes": .number(Limits.reportNoteBytes),
        "blocks": .number(Limits.blocks),
        "defaultBlocks": .number(Limits.defaultBlocks),
        "profileNameBytes": .number(Limits.profileNameBytes),
        "profileAvatarBytes": .number(Limits.profileAvatarBytes),
        "profileDataBytes": .number(Limits.profileDataBytes),
        "profiles": .number(Limits.profiles),
        "reads": .number(Limits.reads),
        "defaultReads": .number(Limits.defaultReads),
        "banReasonBytes": .number(Limits.banReasonBytes),
        "bans": .number(Limits.bans),
        "defaultBans": .number(Limits.defaultBans),
        "rooms": .number(Limits.rooms),
        "defaultRooms": .number(Limits.defaultRooms),
        "pageMessages": .number(Limits.pageMessages),
        "defaultPageMessages": .number(Limits.defaultPageMessages),
        "searchedRooms": .number(Limits.searchedRooms),
        "searchTerms": .number(SearchQuery.maximumTerms),
        "searchTermCharacters": .number(SearchQuery.maximumTermCharacters),
        "searchHighlights": .number(SearchQuery.maximumHighlights),
        "changedMessages": .number(Limits.changedMessages),
        "defaultChangedMessages": .number(Limits.defaultChangedMessages),
    ]

    /// The source, with its placeholders filled and its scalars repeated where they are used.
    static let source: JSONValue = {
        let written = Array(String(cString: description_openapi).utf8)
        var document = try! JSONValue(written).mapping { value in
            if case .string(let text) = value { filled(text) } else { value }
        }
        let scalars = document["x-scalars"]!
        document["x-scalars"] = nil
        return document.mapping { value in
            guard let name = value["$ref"]?.string?.dropping(prefix: "#/x-scalars/") else { return value }
            return scalars[name]!
        }
    }()

    /// Returns a text with its placeholders filled; the placeholder's value if the text is nothing else.
    private static func filled(_ text: String) -> JSONValue {
        let parts = text.split(separator: "{{", omittingEmptySubsequences: false)
        var filled = String(parts[0])
        for part in parts.dropFirst() {
            let end = part.firstRange(of: "}}")!
            let value = placeholders[String(part[..<end.lowerBound])]!
            if filled.isEmpty, parts.count == 2, end.upperBound == part.endIndex { return value }
            switch value {
            case .number(let number): filled += String(number)
            case .string(let string): filled += string
            default: preconditionFailure("a placeholder is a number or a text")
            }
            filled += part[end.upperBound...]
        }
        return .string(filled)
    }

    // MARK: The document

    var document: JSONValue {
        var document = Self.source
        var components = document["components"]!
        components["responses"] = APIRefusals.components
        if !wantsTokens { components["securitySchemes"] = nil }
        document["components"] = components
        document["paths"] = .object(
            document["paths"]!.members.filter { hasMetrics || $0.name != "/metrics" }.map { path, item in
                (name: path, value: complete(item, of: path))
            })
        return document
    }

    /// Returns a path's item with its operations completed.
    private func complete(_ item: JSONValue, of path: String) -> JSONValue {
        .object(
            item.members.map { name, value in
                guard let operation = APIOperation(method: name, path: path, value) else { return (name, value) }
                return (name, complete(operation))
            })
    }

    private func complete(_ operation: APIOperation) -> JSONValue {
        var value = operation.value
        value["x-refusals"] = nil
        value["security"] = security(of: operation)
        if let name = callerParameter(of: operation) {
            let reference: JSONValue = ["$ref": .string("#/components/parameters/\(name)")]
            value["parameters"] = .array((value["parameters"]?.elements ?? []) + [reference])
        }
        let refusals = APIRefusals(of: operation, wantsTokens: wantsTokens).responses
        value["responses"] = .object(value["responses"]!.members + refusals)
        return value
    }

    /// Returns the name of the parameter for the caller's name, which callers state in open mode.
    private func callerParameter(of operation: APIOperation) -> String? {
        guard !wantsTokens else { return nil }
        return switch operation.route.access {
        case .anybody: nil
        case .reader, .admin: "readerName"
        case .named: "callerName"
        }
    }

    /// Returns the security requirements of an operation. A token in the URL works everywhere, but the description
    /// recommends it only where clients cannot set headers.
    private func security(of operation: APIOperation) -> JSONValue {
        guard wantsTokens, operation.route.access != .anybody else { return [] }
        let token: JSONValue = ["token": []]
        return operation.route.isLive ? [token, ["tokenInURL": []]] : [token]
    }
}

/// One operation of the API, a route as the source describes it.
struct APIOperation {
    let route: Route
    let value: JSONValue

    /// Reads a member of a path's item; `nil` if it is not an operation.
    init?(method: String, path: String, _ value: JSONValue) {
        let route = Route.all.first { $0.path == path && $0.method.rawValue.lowercased() == method }
        guard let route else { return nil }
        self.route = route
        self.value = value
    }

    /// The codes of its refusals, in addition to those of every operation like it.
    var refusals: [Problem.Code] {
        (value["x-refusals"]?.elements ?? []).map { Problem.Code(rawValue: $0.string!)! }
    }

    /// All operations, in the order of the description.
    static let all: [APIOperation] = APIDescription.source["paths"]!.members.flatMap { path, item in
        item.members.compactMap { APIOperation(method: $0.name, path: path, $0.value) }
    }
}

extension String {
    /// Returns the rest of a string that begins with `prefix`.
    fileprivate func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
