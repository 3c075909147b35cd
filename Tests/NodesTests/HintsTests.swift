import Chat
import Testing
import Wire

@testable import Nodes

@Suite("Hints")
struct HintsTests {
    private let lobby = try! RoomID("lobby")

    private func parsed(_ payload: String) -> Hints? {
        if case .hints(let hints, _) = Hints.parse(payload) { hints } else { nil }
    }

    @Test func `are read as they were written, with the sender's name`() throws {
        var hints = Hints()
        hints.add(lobby, rev: 42)
        hints.add(try RoomID("a.b_c~d-e"), rev: RoomFacts.maximumOrdinal)
        hints.addEvents()
        let payloads = hints.payloads(from: "node1")
        #expect(payloads.count == 1)
        #expect(Hints.parse(payloads[0]) == .hints(hints, node: "node1"))
    }

    @Test func `have a payload that is stable, because nodes of two versions read it`() {
        var hints = Hints()
        hints.add(lobby, rev: 42)
        hints.addEvents()
        #expect(hints.payloads(from: "n") == ["h n @ lobby:42"])
        hints.addEverything()
        #expect(hints.payloads(from: "n") == ["h n @ *"])
    }

    @Test func `of one room keep the latest revision`() {
        var hints = Hints()
        #expect(hints.isEmpty && hints.payloads(from: "n").isEmpty)
        hints.add(lobby, rev: 5)
        hints.add(lobby, rev: 4)
        hints.addEvents()
        var other = Hints()
        other.add(lobby, rev: 6)
        hints.add(other)
        #expect(hints.rooms == [lobby: 6] && hints.hasEvents)
        other.addEverything()
        hints.add(other)
        #expect(hints.isEverything && hints.rooms.isEmpty && hints.hasEvents)
    }

    @Test(arguments: [100, 700, 1_500])
    func `that do not fit one payload are split, and merge to the same hints`(count: Int) throws {
        var hints = Hints()
        for number in 0..<count { hints.add(try RoomID("room-\(number)"), rev: Int64(number) + 1_000_000) }
        hints.addEvents()
        let payloads = hints.payloads(from: "node1")
        #expect(payloads.count == count * 18 / Hints.maximumBytes + 1)
        #expect(payloads.allSatisfy { $0.utf8.count <= Hints.maximumBytes })
        var merged = Hints()
        for payload in payloads { merged.add(try #require(parsed(payload))) }
        #expect(merged == hints)
    }

    @Test func `that do not fit the payloads sent at once request a look at all rooms`() throws {
        let name = String(repeating: "x", count: RoomID.maximumBytes - 8)
        var hints = Hints()
        for number in 0..<1_000 { hints.add(try RoomID("\(name)\(number)"), rev: RoomFacts.maximumOrdinal) }
        hints.addEvents()
        let payloads = hints.payloads(from: String(repeating: "n", count: Hints.maximumNodeBytes))
        #expect(payloads.count == Hints.maximumPayloads)
        #expect(payloads.allSatisfy { $0.utf8.count <= Hints.maximumBytes })
        var merged = Hints()
        for payload in payloads { merged.add(try #require(parsed(payload))) }
        #expect(merged.isEverything && merged.hasEvents)
    }

    @Test func `that wait for long name no more rooms than their bound`() throws {
        var hints = Hints()
        for number in 0...Hints.maximumRooms { hints.add(try RoomID("room-\(number)"), rev: 1) }
        #expect(hints.isEverything && hints.rooms.isEmpty)
    }

    @Test(arguments: [
        "", "h", "h ", "h n", "h  lobby:1", "h n ", "h n lobby", "h n lobby:", "h n lobby:0", "h n lobby:-1",
        "h n lobby:01", "h n lobby:1x", "h n :1", "h n lob by:1", "h n lobby:99999999999999999999", "h n @7",
        "h n @@", "h n **", "h n lobby:68719476736", "hint n lobby:1", "h n lobby:1  a:1", "h n lób:1",
        "h \(String(repeating: "n", count: 65)) lobby:1",
    ])
    func `that are malformed are told apart`(payload: String) {
        #expect(Hints.parse(payload) == .malformed)
    }

    @Test func `are not notifications of another kind`() {
        #expect(Hints.parse("t n whatever") == .other(kind: "t"))
    }
}
