import Chat
import HTTP
import HTTPTypes
import Wire

/// Who makes a request: whom its token names, or without keys, in open mode, who the caller says to be.
extension Exchange {
    /// Learns who the caller is, and that the room is one that the caller may have to do with.
    ///
    /// - Throws: 401 when there is no good token, 403 when it is not for the room, 400 when the request contradicts
    ///   itself.
    func caller(_ target: DecodedTarget, in room: RoomID) throws(Problem) -> Identity {
        let caller = try caller(target)
        guard caller.allows(room: room) else { throw .roomNotAllowed }
        return caller
    }

    /// Learns who the caller is.
    ///
    /// - Throws: 401 when there is no good token, 400 when the request contradicts itself.
    func caller(_ target: DecodedTarget) throws(Problem) -> Identity {
        let identity = try identity(target)
        if worker.logsCallers { caller = identity.user }
        return identity
    }

    private func identity(_ target: DecodedTarget) throws(Problem) -> Identity {
        guard worker.authenticator != nil else {
            return Identity(user: try Self.claimedUser(request, target))
        }
        guard let found = try Credentials.token(of: request, target) else { throw .tokenMissing }
        // An answer to a URL that has a token in it is nobody else's (RFC 6750, section 2.3).
        if found.isInURL { add(.cacheControl, "private") }
        let caller = try worker.identity(of: found.token)
        if let claimed = try Self.claimedUser(request, target), claimed != caller.user {
            throw .badRequest("The user that is named is not the one of the token.")
        }
        return caller
    }

    /// Learns who the caller is, who must be an admin of the whole server.
    ///
    /// - Throws: 401 when there is no good token, 403 when it is no admin's, or one that is limited to some rooms.
    func admin(_ target: DecodedTarget) throws(Problem) -> Identity {
        let caller = try caller(target)
        guard caller.isAdmin, caller.rooms == nil else { throw .notAnAdmin }
        return caller
    }

    /// The user that `?user=` or `X-User` names.
    ///
    /// - Throws: 400 when both do and differ, or the name is none.
    private static func claimedUser(_ request: RequestHead, _ target: DecodedTarget) throws(Problem) -> UserID? {
        let parameter = try target.single("user")
        let field = request.headerFields.first(.xUser)
        guard field == nil || request.headerFields.count(of: .xUser) == 1 else {
            throw .badRequest("There is more than one X-User header.")
        }
        // Browsers send fields as Latin-1, in which two names could become the same one.
        guard field == nil || request.headerFields.firstIsUTF8(.xUser) else { throw .invalidUser }
        // By their bytes, as users are told from each other.
        if let parameter, let field, !parameter.hasSameBytes(as: field) {
            throw .badRequest("The user parameter and the X-User header name different users.")
        }
        guard let name = parameter ?? field else { return nil }
        return try UserID(name)
    }
}

extension Identity {
    /// The user.
    ///
    /// - Throws: 401 when there is no name, which only open mode allows.
    func named() throws(Problem) -> UserID {
        guard let user else {
            throw .unauthenticated("Say who you are: add ?user=NAME to the URL, or the header X-User: NAME.")
        }
        return user
    }
}

extension HTTPField.Name {
    /// Names the caller in open mode.
    static let xUser = HTTPField.Name("X-User")!
    /// What an event stream's client has seen last.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Where related resources are (RFC 8288).
    static let link = HTTPField.Name("Link")!
}
