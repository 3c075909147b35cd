/// The templates of Backscroll's own API.
enum Backscroll {
    /// What the last of a subscription's first frames has in it.
    static let ready = #""type":"live""#

    /// A message with an id of its own, which makes repeating the send safe.
    static let body = #"{"client_message_id":"{run}-{room}-{seq}","text":"{mark}{pad}"}"#

    /// Messages of a page.
    static let pageSize = 30

    /// What rooms are called, unless the user says so: the run's own.
    static let room = "load-{run}-{room}"

    /// Where a room's live messages are. Users are the run's own; a token names the user by itself.
    static func live(in room: String, hasToken: Bool) -> String {
        "/v1/rooms/\(room)/live" + (hasToken ? "" : "?user=load-{run}-s{conn}")
    }

    /// Where a room's messages are sent to.
    static func messages(in room: String, hasToken: Bool) -> String {
        "/v1/rooms/\(room)/messages" + (hasToken ? "" : "?user=load-{run}-p{pub}")
    }

    /// A page of a room: the newest, the one with the first messages, or the one before `{rand}`.
    static func page(_ page: Page, of room: String) -> String {
        let place =
            switch page {
            case .newest: ""
            case .random: "&before={rand}"
            case .deepest: "&before=\(pageSize + 1)"
            }
        return "/v1/rooms/\(room)/messages?limit=\(pageSize)" + place
    }

    /// What stands before the API's paths: a server may be behind a prefix.
    static func base(_ web: Endpoint) -> String {
        let path = web.target.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
