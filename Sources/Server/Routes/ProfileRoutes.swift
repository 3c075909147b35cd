import Chat
import HTTP
import HTTPTypes
import Wire

/// The names and pictures of users.
enum ProfileRoutes {
    /// The time for which a client may show a profile without asking again.
    static let cacheControl = "private, max-age=60"

    /// `GET /v1/profiles`
    static func profiles(_ request: RoutedRequest) throws(Problem) {
        let users = try Profiles.parseUsers(request.single("users"))
        request.ask({ .profiles(users, $0) }) { profiles in
            var body: [UInt8] = []
            profiles.encode(into: &body)
            let tag = "\"\(StaticContent.tag(of: body))\""
            let exchange = request.exchange
            // A URL with a token has set another already.
            exchange.fields.removeAll { $0.name == .cacheControl }
            exchange.add(.cacheControl, cacheControl)
            exchange.add(.eTag, tag)
            let isKnown = request.headerFields.ifNoneMatchNames(tag)
            exchange.send(isKnown ? .notModified : .ok, body: body.span)
        }
    }

    /// `PUT /v1/profiles/{user}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        let settings = try ProfileSettings.decode(request.body)
        try request.submit(.user(request.user, .setProfile(settings))) { receipt in
            request.answerRecord(of: receipt)
        }
    }
}
