/// The templates of Backscroll's own API.
enum Backscroll {
    /// A text that only the last of a subscription's initial frames contains.
    static let ready = #""type":"live""#

    /// The body of a message. It has an id of its own, so that repeating the send is safe.
    static let body = #"{"client_message_id":"{run}-{room}-{seq}","text":"{mark}{pad}"}"#

    /// Number of messages of a page.
    static let pageSize = 30

    /// The default names of the rooms, which are unique to the run.
    static let room = "load-{run}-{room}"

    /// A room of the run's own, for the user who makes and deletes it.
    static func ownRoom(hasToken: Bool) -> String {
        "/v1/rooms/\(room)" + (hasToken ? "" : "?user=load-{run}-owner")
    }

    /// Returns the path of a room's live messages. It names a user of the run, unless a token names the user.
    static func live(in room: String, hasToken: Bool) -> String {
        "/v1/rooms/\(room)/live" + (hasToken ? "" : "?user=load-{run}-s{conn}")
    }

    /// Returns the path that messages of a room are sent to.
    static func messages(in room: String, hasToken: Bool) -> String {
        "/v1/rooms/\(room)/messages" + (hasToken ? "" : "?user=load-{run}-p{pub}")
    }

    /// Returns the path of a page of a room: the newest, the oldest, or the one before `{rand}`.
    static func page(_ page: Page, of room: String) -> String {
        let place =
            switch page {
            case .newest: ""
            case .random: "&before={rand}"
            case .deepest: "&before=\(pageSize + 1)"
            }
        return "/v1/rooms/\(room)/messages?limit=\(pageSize)" + place
    }

    /// Returns the prefix of the API's paths, for a server behind a path prefix.
    static func base(_ web: Endpoint) -> String {
        let path = web.target.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
