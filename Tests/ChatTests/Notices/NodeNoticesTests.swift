import TestSupport
import Testing
import Wire

@testable import Chat

@Suite("Notices for other nodes")
struct NodeNoticesTests {
    private let lobby = try! RoomID("lobby")
    private let bob = try! UserID("bob")

    @Test func `are merged: a user types once, and has read up to the highest seq`() {
        var notices = NodeNotices()
        #expect(notices.isEmpty && notices.payloads(from: "n1").isEmpty)
        for seq in [4, 9, 7] as [Int64] {
            notices.addTyping(bob, in: lobby)
            notices.addRead(bob, in: lobby, to: seq)
        }
        #expect(notices.payloads(from: "n1") == ["n n1 r:lobby:9:bob t:lobby:bob"])
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `are read as they were written, whatever the ids contain`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var notices = NodeNotices()
        for _ in 1...Int.random(in: 1...60, using: &generator) {
            let user = try UserID(["bob", "a:b", "ü:", ":", "t:x:y", "100%"].randomElement(using: &generator)!)
            let room = try RoomID(["lobby", "a.b", "r~1"].randomElement(using: &generator)!)
            if Int.random(in: 0..<3, using: &generator) == 0 {
                notices.addOwn(OwnNotice(.block(user: user, blocked: .random(using: &generator)), of: user))
            } else if Bool.random(using: &generator) {
                notices.addTyping(user, in: room)
            } else {
                notices.addRead(user, in: room, to: Int64.random(in: 0...Int64.max, using: &generator))
            }
        }
        let payloads = notices.payloads(from: "node-1")
        #expect(payloads.count == 1)
        let parsed = try #require(NodeNotices.parse(payloads[0]))
        #expect(parsed.notices == notices && parsed.node == "node-1")
    }

    @Test func `have bounds, beyond which they are dropped`() throws {
        var notices = NodeNotices()
        for number in 1...5_000 { notices.addTyping(try UserID("user\(number)"), in: lobby) }
        #expect(notices.typing.count == NodeNotices.maximumNotices)
        // Read marks share the bound, so this one is dropped.
        notices.addRead(bob, in: lobby, to: 4)
        #expect(notices.read.isEmpty)
        let payloads = notices.payloads(from: "n1")
        #expect(payloads.count == NodeNotices.maximumPayloads)
        #expect(payloads.allSatisfy { $0.utf8.count <= NodeNotices.maximumBytes })
        let received = payloads.reduce(into: Set()) { $0.formUnion(NodeNotices.parse($1)!.notices.typing) }
        #expect(received.count > 1_000 && received.isSubset(of: notices.typing))
    }

    @Test(arguments: [
        "", "n", "h n1 lobby:4", "n n1", "n n1 t:lobby", "n n1 x:lobby:bob", "n n1 r:lobby:-1:bob",
        "n n1 r:lobby:x:bob",
        "n n1 r:lobby:1", "n n1 t:.:bob", "n n1 t:lobby:", "n n1 :::",
    ])
    func `are read without the malformed ones`(payload: String) {
        #expect(NodeNotices.parse(payload)?.notices.isEmpty ?? true)
    }
}
