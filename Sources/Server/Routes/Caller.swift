import HTTP
import HTTPTypes
import Wire

/// Who makes a request.
///
/// Without a key the server runs in open mode: the caller says a name, and is believed.
struct Caller: Sendable, Equatable {
    /// The user; `nil` when no name was given, which suffices for reading.
    var user: UserID?

    /// Learns who the caller is from `?user=` or `X-User`.
    ///
    /// - Throws: 400 when both are given and differ, or the name is none.
    init(openMode request: HTTPRequest, _ target: DecodedTarget) throws(Problem) {
        let parameter = try target.single("user")
        let field = request.headerFields.first(.xUser)
        guard field == nil || request.headerFields.count(of: .xUser) == 1 else {
            throw .badRequest("There is more than one X-User header.")
        }
        if let parameter, let field, parameter != field {
            throw .badRequest("The user parameter and the X-User header name different users.")
        }
        guard let name = parameter ?? field else { return }
        user = try UserID(name)
    }

    /// The user.
    ///
    /// - Throws: 401 when there is no name.
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
