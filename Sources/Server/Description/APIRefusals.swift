import HTTPTypes
import Wire

/// The refusals of an operation: problem codes, grouped by status.
struct APIRefusals {
    /// The codes that any request can get. For 400 and 403 most operations add further codes.
    static let ofAny: [Problem.Code] =
        Problem.Code.malformed + [
            .originNotAllowed, .requestTimeout, .bodyTooLarge, .targetTooLong, .expectationUnknown, .rateLimited,
            .headTooLarge, .tooManyFields, .trailersTooLarge, .methodTooLong, .transferCodingUnknown, .unavailable,
            .storageLost, .overloaded, .tooManyConnections, .versionUnsupported,
        ]

    /// Codes that health checks never get.
    private static let ofLimits: [Problem.Code] = [
        .rateLimited, .tooManyConnections, .overloaded, .unavailable, .storageLost,
    ]

    /// The codes of each status, in ascending order of status.
    let codes: [(status: Int, codes: [Problem.Code])]

    /// Collects the refusals of an operation on a server with keys or in open mode.
    init(of operation: APIOperation, wantsTokens: Bool) {
        let route = operation.route
        let isOfHealth = route.listeners == .all
        var codes = Self.ofAny.filter { !isOfHealth || !Self.ofLimits.contains($0) } + operation.refusals
        if !wantsTokens, !isOfHealth { codes.append(.hostNotAllowed) }
        if route.access != .anybody {
            codes.append(.invalidUser)
            if route.access == .admin { codes += [.forbidden, .banned] }
            if wantsTokens {
                codes += [.tokenMissing, .tokenInvalid, .tokenExpired, .tokenNotYetValid]
                codes.removeAll { $0 == .unauthenticated }
                if route.path.contains("{room}") { codes.append(.roomNotAllowed) }
            } else if route.access == .named {
                codes.append(.unauthenticated)
            }
        }
        if route.path.contains("{room}") { codes += [.invalidRoom, .banned] }
        // Admins decide on reports whatever has become of the room.
        if route.path.contains("{room}"), route.access != .admin { codes += [.roomNotFound, .roomDeleted] }
        if route.path.contains("{room}"), route.method != .get { codes.append(.roomUnavailable) }
        self.codes = Self.byStatus(codes)
    }

    private static func byStatus(_ codes: [Problem.Code]) -> [(status: Int, codes: [Problem.Code])] {
        // In the order of declaration, without duplicates.
        let known = Problem.Code.allCases.filter(codes.contains)
        return Set(known.map(\.status)).sorted().map { status in (status, known.filter { $0.status == status }) }
    }

    // MARK: Answers

    /// The shared responses of the components: the refusals common to all operations.
    static var components: JSONValue {
        .object(byStatus(ofAny).map { (name: name(of: $0.status), value: response($0.status, $0.codes)) })
    }

    /// The error responses of the operation, by status.
    var responses: [(name: String, value: JSONValue)] {
        let common = Self.byStatus(Self.ofAny)
        return codes.map { status, codes in
            let isCommon = common.contains { $0.status == status && $0.codes == codes }
            let name = "#/components/responses/\(Self.name(of: status))"
            return (String(status), isCommon ? ["$ref": .string(name)] : Self.response(status, codes))
        }
    }

    private static func name(of status: Int) -> String {
        Problem.title(of: status).split(separator: " ").joined()
    }

    /// Returns the response for a status. Its schema is the same everywhere, since client generators cannot tell
    /// problems apart by their codes; `x-codes` lists the codes.
    private static func response(_ status: Int, _ codes: [Problem.Code]) -> JSONValue {
        var response: JSONValue = ["description": .string(description(of: status, codes))]
        let headers = headers(of: status)
        if !headers.isEmpty {
            response["headers"] = .object(
                headers.map { (name: $0, value: ["$ref": .string("#/components/headers/\($0)")]) })
        }
        response["content"] = [
            "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
        ]
        response["x-codes"] = .strings(codes.map(\.string))
        return response
    }

    private static func description(of status: Int, _ codes: [Problem.Code]) -> String {
        let malformed = Set(Problem.Code.malformed)
        let own = codes.filter { !malformed.contains($0) }.map { "`\($0)`" }
        let all = malformed.isDisjoint(with: codes) ? own : own + ["a code of requests that are not valid HTTP"]
        return "\(Problem.title(of: status)): " + all.joined(separator: ", ")
    }

    private static func headers(of status: Int) -> [String] {
        switch status {
        case 401, 403: ["WWW-Authenticate"]
        case 426: ["Upgrade", "Sec-WebSocket-Version"]
        case 429: ["Retry-After", "RateLimit", "RateLimit-Policy"]
        case 503: ["Retry-After"]
        default: []
        }
    }
}
