/// The templates of Backscroll's own API.
enum Backscroll {
    /// What the last of a subscription's first frames has in it.
    static let ready = #""type":"live""#

    /// A message with an id of its own, which makes repeating the send safe.
    static let body = #"{"client_message_id":"{run}-{room}-{seq}","text":"{mark}{pad}"}"#

    /// Where a room's live messages are. Rooms and users are the run's own; a token names the user by itself.
    static func live(hasToken: Bool) -> String {
        "/v1/rooms/load-{run}-{room}/live" + (hasToken ? "" : "?user=load-{run}-s{conn}")
    }

    /// Where a room's messages are sent to.
    static func messages(hasToken: Bool) -> String {
        "/v1/rooms/load-{run}-{room}/messages" + (hasToken ? "" : "?user=load-{run}-p{pub}")
    }

    /// What stands before the API's paths: a server may be behind a prefix.
    static func base(_ web: Endpoint) -> String {
        let path = web.target.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
