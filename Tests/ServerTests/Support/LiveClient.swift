import HTTPTypes
import TestSupport

/// A client that is subscribed to a room, over any kind of connection.
protocol LiveClient: AnyObject {
    /// Returns the next frame's JSON.
    func next() throws -> [UInt8]
}

extension LiveClient {
    /// Returns the next frame.
    func frame() throws -> ReceivedFrame {
        try decode(next())
    }

    /// Returns the next `count` frames.
    func frames(_ count: Int) throws -> [ReceivedFrame] {
        try (0..<count).map { _ in try frame() }
    }

    /// Returns the next frame, which must be a message.
    func message() throws -> ReceivedMessage {
        let frame = try frame()
        guard let message = frame.message else { throw Unexpected("a frame of type \(frame.type)") }
        return message
    }

    /// Reads the first frames of a subscription without a replay.
    ///
    /// - Returns: The room.
    @discardableResult
    func greeting() throws -> ReceivedRoom {
        guard let room = try frame().room, try frame().liveRev == room.rev else {
            throw Unexpected("another beginning than subscribed and live")
        }
        return room
    }
}

/// The kind of connection of a subscription.
enum LiveFormat: CaseIterable, Sendable {
    case webSocket, deflatedWebSocket, serverSentEvents

    /// Subscribes to a room.
    ///
    /// - Parameter query: The query of the URL, without a question mark.
    func subscribe(
        port: Int, room: String = "lobby", query: String = "", receiveBuffer: Int32? = nil
    ) throws -> any LiveClient {
        let target = "/v1/rooms/\(room)/live" + (query.isEmpty ? "" : "?\(query)")
        switch self {
        case .webSocket: return try WebSocketClient(port: port, target, receiveBuffer: receiveBuffer)
        case .deflatedWebSocket:
            return try WebSocketClient(port: port, target, offersDeflate: true, receiveBuffer: receiveBuffer)
        case .serverSentEvents: return try EventStreamClient(port: port, target, receiveBuffer: receiveBuffer)
        }
    }
}
