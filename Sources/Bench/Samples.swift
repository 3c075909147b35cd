import Chat
import Wire

/// The data of the benchmarks: a chat message of 256 characters, as load tools send it.
enum Samples {
    static let room = try! RoomID("lobby")
    static let sender = try! UserID("alice")
    static let text = String(repeating: "the quick brown fox, ", count: 13).prefix(256)

    /// Returns the body of a send.
    static func draft(_ id: Int) -> [UInt8] {
        Array(#"{"client_message_id":"6a0f4a5e-0000-4000-8000-\#(id)","text":"\#(text)"}"#.utf8)
    }

    /// The bytes of a send request.
    static let request: [UInt8] = {
        let body = draft(0)
        let head = """
            POST /v1/rooms/lobby/messages?user=alice HTTP/1.1\r
            Host: chat.example.com\r
            User-Agent: bench/1\r
            Accept: */*\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            \r

            """
        return Array(head.utf8) + body
    }()

    /// Returns the message as it is stored.
    static func snapshot(_ seq: Int64) throws -> [UInt8] {
        var snapshot: [UInt8] = []
        Message.encode(
            room: room, seq: seq, rev: seq, sender: sender, draft: try Draft.decode(draft(0)),
            createdAt: Timestamp(milliseconds: 1_790_000_000_000), into: &snapshot)
        return snapshot
    }

    /// Returns the messages of a commit.
    static func batch(_ revs: ClosedRange<Int64>) throws -> Batch {
        Batch(
            room: room, firstRev: revs.lowerBound, head: revs.upperBound, messages: try revs.map { try snapshot($0) })
    }
}
