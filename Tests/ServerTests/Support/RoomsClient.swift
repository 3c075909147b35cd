import TestSupport
import WebSocket

/// Methods for a socket with many rooms.
extension WebSocketClient {
    /// Opens a socket for many rooms.
    static func forRooms(
        port: Int, as user: String? = nil, offersDeflate: Bool = false, receiveBuffer: Int32? = nil
    ) throws -> WebSocketClient {
        try WebSocketClient(
            port: port, "/v1/live" + (user.map { "?user=\($0)" } ?? ""), offersDeflate: offersDeflate,
            receiveBuffer: receiveBuffer)
    }

    /// Subscribes to a room.
    ///
    /// - Parameter since: A number, or a string in quotes.
    func ask(for room: String, since: String? = nil) throws {
        let since = since.map { #","since":\#($0)"# } ?? ""
        try send(#"{"type":"subscribe","room":"\#(room)"\#(since)}"#)
    }

    /// Subscribes to rooms one after the other, without a replay.
    func join(_ rooms: String...) throws {
        for room in rooms {
            try ask(for: room)
            guard try greeting().room == room else { throw Unexpected("the greeting of another room") }
        }
    }

    /// Waits until the server has handled all frames so far, if no other frames are pending.
    func isQuiet() throws -> Bool {
        try send(.ping, [7])
        return try event() == .pong([7])
    }
}
