import Chat
import HTTP
import HTTPTypes
import Wire

extension Identity {
    /// The caller's name.
    ///
    /// - Throws: 401 when there is none, which is possible only in open mode.
    func named() throws(Problem) -> UserID {
        guard let user else {
            throw .unauthenticated("Say who you are: add ?user=NAME to the URL, or the header X-User: NAME.")
        }
        return user
    }
}

extension HTTPField.Name {
    /// The caller's name, in open mode.
    static let xUser = HTTPField.Name("X-User")!
    /// The id of the last event that an event stream's client received.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Links to related resources (RFC 8288).
    static let link = HTTPField.Name("Link")!
}

/// The ways in which a request names its caller: by a token, which can be in three places (RFC 6750, section 2), or in
/// open mode by a name.
enum Credentials {
    private static let scheme = "bearer"
    private static let subprotocolPrefix = "bearer."

    /// A token, and whether the URL contains it, where logs and caches can see it.
    struct Found: Equatable {
        var token: String
        var isInURL = false
    }

    /// Returns the token of a request; `nil` if there is none. The same token may be in several places.
    ///
    /// - Throws: 400 when the request has two tokens that differ.
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
        // Browsers cannot set headers on a WebSocket, but they can offer subprotocols.
        if request.method == .get {
            for offered in request.headerFields.elements(of: .secWebSocketProtocol)
            where offered.hasPrefix(subprotocolPrefix) {
                try add(offered.dropFirst(subprotocolPrefix.count))
            }
        }
        if let parameter = try target.single("access_token") { try add(parameter[...], isInURL: true) }
        return found
    }

    /// Returns the text after `Bearer`, which is matched without regard to case (RFC 9110, section 11.1). The result is
    /// empty if nothing follows, and `nil` for other schemes, which may be meant for a proxy.
    private static func token(ofAuthorization value: String) -> Substring? {
        guard value.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = value.dropFirst(scheme.count)
        return rest.isEmpty || rest.first == " " ? rest.drop { $0 == " " } : nil
    }

    /// The user that `?user=` or `X-User` names.
    ///
    /// - Throws: 400 when both are present and differ, or when the name is not a valid user id.
    static func claimedUser(of request: RequestHead, _ target: DecodedTarget) throws(Problem) -> UserID? {
        let parameter = try target.single("user")
        let field = request.headerFields.first(.xUser)
        guard field == nil || request.headerFields.count(of: .xUser) == 1 else {
            throw .badRequest("There is more than one X-User header.")
        }
        // Browsers send header values as Latin-1, which could turn two names into the same one.
        guard field == nil || request.headerFields.firstIsUTF8(.xUser) else { throw .invalidUser }
        // Compared by their bytes, like user ids.
        if let parameter, let field, !parameter.hasSameBytes(as: field) {
            throw .badRequest("The user parameter and the X-User header name different users.")
        }
        guard let name = parameter ?? field else { return nil }
        return try UserID(name)
    }
}

extension Problem {
    /// The value of `WWW-Authenticate` (RFC 6750, section 3); `nil` if the problem is not about tokens.
    var challenge: String? {
        switch code {
        // Without credentials there is no error code (section 3.1), but the challenge needs some parameter. In open
        // mode no scheme would help, but every 401 needs a challenge (RFC 9110, section 15.5.2).
        case .tokenMissing, .unauthenticated: #"Bearer realm="backscroll""#
        case .tokenInvalid, .tokenExpired, .tokenNotYetValid: #"Bearer error="invalid_token""#
        case .roomNotAllowed: #"Bearer error="insufficient_scope""#
        default: nil
        }
    }
}
