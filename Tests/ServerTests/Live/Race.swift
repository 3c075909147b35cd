import HTTP
import HTTPTypes
import TestSupport
import Testing

/// A race: rooms to which senders send a known number of messages.
struct Race: Sendable {
    let port: Int
    let rooms: [String]
    let senders: Int
    let perSender: Int
    /// An event for each acknowledged message. Stalling readers use it to resume.
    let acknowledged = Recorder<Void>()

    /// The final number of messages in each room.
    var perRoom: Int64 { Int64(senders * perSender / rooms.count) }
    /// The final number of messages in all rooms.
    var total: Int { senders * perSender }

    /// Sends to the rooms in turn, sometimes several messages at once, sometimes twice.
    func send(as number: Int) throws {
        var generator = SeededGenerator(seed: UInt64(1000 + number))
        let client = try HTTPClient(port: port)
        var next = 0
        while next < perSender {
            let burst = min(Int.random(in: 1...12, using: &generator), perSender - next)
            var bytes: [UInt8] = []
            for index in next..<next + burst {
                let text = String(repeating: "x", count: Int.random(in: 0...1500, using: &generator))
                let draft = HTTPClient.draft("m" + text, id: "\(index)")
                bytes += HTTPClient.bytes(sending: draft, to: rooms[index % rooms.count], as: "sender\(number)")
                if index % 10 == 0 {
                    bytes += HTTPClient.bytes(sending: draft, to: rooms[index % rooms.count], as: "sender\(number)")
                }
            }
            try client.write(bytes)
            for index in next..<next + burst {
                guard try client.response().status == .created else { throw Unexpected("a send was refused") }
                if index % 10 == 0 {
                    guard try client.response().status == .ok else { throw Unexpected("a repeated send was refused") }
                }
                acknowledged.record(())
            }
            next += burst
        }
    }

    /// Reads pages backwards from the newest to the first, repeatedly, until the last message is there.
    func page(_ room: String) throws {
        let client = try HTTPClient(port: port)
        var head: Int64 = 0
        while head < perRoom {
            var page = try client.read("/v1/rooms/\(room)/messages?limit=50", as: ReceivedPage.self)
            guard page.head >= head, page.messages.last?.seq ?? 0 == page.head else {
                throw Unexpected("an older page")
            }
            head = page.head
            while let first = page.messages.first {
                try expectAscending(page.messages.map(\.seq), after: first.seq - 1)
                page = try client.read("/v1/rooms/\(room)/messages?limit=50&before=\(first.seq)")
                guard page.messages.last?.seq ?? 0 == first.seq - 1 else { throw Unexpected("a gap between pages") }
            }
        }
    }

    /// Checks that the room has every message once, as sent, in the order of their times.
    func expectComplete(_ room: String) throws {
        let client = try HTTPClient(port: port)
        let all = try client.read("/v1/rooms/\(room)/changes?limit=1000", as: ReceivedChanges.self)
        #expect(all.messages.map(\.seq) == Array(1...perRoom))
        #expect(all.messages.map(\.rev) == Array(1...perRoom))
        #expect(Set(all.messages.map { "\($0.sender)/\($0.clientMessageId ?? "")" }).count == Int(perRoom))
        #expect(zip(all.messages, all.messages.dropFirst()).allSatisfy { $0.createdAt <= $1.createdAt })
        for sender in 0..<senders {
            // The messages of one client are stored in the order sent.
            let own = all.messages.filter { $0.sender == "sender\(sender)" }.compactMap {
                Int($0.clientMessageId ?? "")
            }
            #expect(own == own.sorted())
        }
    }
}

/// Checks that the numbers continue `start` without a gap.
func expectAscending(_ numbers: [Int64], after start: Int64) throws {
    guard numbers == Array(start + 1..<start + 1 + Int64(numbers.count)) else {
        throw Unexpected("\(numbers) after \(start)")
    }
}
