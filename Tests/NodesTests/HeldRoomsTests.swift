import Chat
import Testing
import Wire

@testable import Nodes

@Suite("The changes of locked rooms")
struct HeldRoomsTests {
    private let now = ContinuousClock.now

    private func sends(_ rooms: String...) throws -> [Submission] {
        try rooms.enumerated().map { number, room in
            Submission(
                ticket: Ticket(loop: 0, number: UInt64(number)), room: room == "-" ? nil : try RoomID(room),
                sender: try UserID("alice"), change: .read(seq: Int64(number)))
        }
    }

    private func numbers(_ submissions: some Sequence<Submission>) -> [UInt64] { submissions.map(\.ticket.number) }

    @Test func `wait, and those of other rooms do not`() throws {
        var held = HeldRooms()
        #expect(held.nextCheck == nil)
        let others = held.hold([try RoomID("a")], of: try sends("a", "b", "-", "a", "c")[...], at: now)
        #expect(numbers(others) == [1, 2, 4])
        #expect(held.count == 2)
        #expect(try held.rooms == [RoomID("a")])
        #expect(held.nextCheck == now + HeldRooms.interval)
        let later = held.holdBack(try sends("b", "a")[...])
        #expect(numbers(later) == [0])
        #expect(held.count == 3)
    }

    @Test func `continue in order once their room is free, while other rooms stay locked`() throws {
        var held = HeldRooms()
        let (a, b) = (try RoomID("a"), try RoomID("b"))
        _ = held.hold([a, b], of: try sends("a", "b", "a", "b")[...], at: now)
        #expect(numbers(held.release(except: [b], at: now)) == [0, 2])
        #expect(held.rooms == [b] && held.count == 2)
        #expect(numbers(held.holdBack(try sends("a")[...])) == [0], "its later ones do not wait any more")
        #expect(held.nextCheck != nil)
        #expect(numbers(held.release(except: [], at: now)) == [1, 3])
        #expect(held.nextCheck == nil && held.count == 0)
    }

    @Test func `can be refused while they wait`() throws {
        var held = HeldRooms()
        _ = held.hold([try RoomID("a")], of: try sends("a", "a", "a")[...], at: now)
        held.filter { $0.dropFirst() }
        #expect(held.count == 2)
        #expect(numbers(held.release(except: [], at: now)) == [1, 2])
    }
}
