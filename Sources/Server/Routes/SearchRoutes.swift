import Chat
import Wire

/// Searches for messages, newest first.
enum SearchRoutes {
    /// `GET /v1/rooms/{room}/search`
    static func room(_ request: RoutedRequest) throws(Problem) {
        try search(request, in: request.room)
    }

    /// `GET /v1/search`: all rooms that the caller is a member of.
    static func rooms(_ request: RoutedRequest) throws(Problem) {
        try search(request, in: nil)
    }

    private static func search(_ request: RoutedRequest, in room: RoomID?) throws(Problem) {
        guard request.services.configuration.search else { throw .notAvailable("This server does not search.") }
        let search = try SearchRequest.parse(isInRoom: room != nil) { name throws(Problem) in
            try request.single(name)
        }
        let exchange = request.exchange
        request.ask(
            listFrom: search.cursor?.epoch, { .search(search, in: room, within: request.caller.rooms, $0) }
        ) { slice in
            request.answerJSON { slice.encode(epoch: exchange.epoch, into: &$0) }
        }
    }
}
