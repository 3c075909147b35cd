import HTTP
import HTTPTypes
import Wire

/// Where the token of a request stands (RFC 6750, section 2): in one of three places, or the same one in several.
enum Credentials {
    private static let scheme = "bearer"
    private static let subprotocolPrefix = "bearer."

    /// A token and whether it stands in the URL, where caches look.
    struct Found: Equatable {
        var token: String
        var isInURL = false
    }

    /// The token of a request; `nil` if there is none.
    ///
    /// - Throws: 400 when there are two that differ: which one is meant would be a guess.
    static func token(of request: RequestHead, _ target: DecodedTarget) throws(Problem) -> Found? {
        var found: Found?
        func add(_ token: Substring, isInURL: Bool = false) throws(Problem) {
            guard var known = found else {
                found = Found(token: String(token), isInURL: isInURL)
                return
            }
            guard known.token.utf8.elementsEqual(token.utf8) else {
                throw .badRequest("There is more than one token.")
            }
            known.isInURL = known.isInURL || isInURL
            found = known
        }
        for value in request.headerFields[values: .authorization] {
            if let token = token(ofAuthorization: value) { try add(token) }
        }
        // A browser cannot set fields on a WebSocket, but it can offer subprotocols.
        if request.method == .get {
            for offered in request.headerFields.elements(of: .secWebSocketProtocol)
            where offered.hasPrefix(subprotocolPrefix) {
                try add(offered.dropFirst(subprotocolPrefix.count))
            }
        }
        if let parameter = try target.single("access_token") { try add(parameter[...], isInURL: true) }
        return found
    }

    /// What follows `Bearer`, whose case does not matter (RFC 9110, section 11.1); empty if nothing does. Other schemes
    /// are somebody else's, a proxy's say.
    private static func token(ofAuthorization value: String) -> Substring? {
        guard value.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = value.dropFirst(scheme.count)
        return rest.isEmpty || rest.first == " " ? rest.drop { $0 == " " } : nil
    }
}

extension Problem {
    /// What `WWW-Authenticate` says of it (RFC 6750, section 3); `nil` if it has nothing to do with tokens.
    var challenge: String? {
        switch code {
        // Without any credentials there is no error code either (section 3.1), but some parameter there must be. In open
        // mode no scheme would help, but every 401 has a challenge (RFC 9110, section 15.5.2).
        case .tokenMissing, .unauthenticated: #"Bearer realm="backscroll""#
        case .tokenInvalid, .tokenExpired, .tokenNotYetValid: #"Bearer error="invalid_token""#
        case .roomNotAllowed: #"Bearer error="insufficient_scope""#
        default: nil
        }
    }
}
