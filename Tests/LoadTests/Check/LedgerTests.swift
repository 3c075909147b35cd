import Testing

@testable import Load

@Suite struct LedgerTests {
    /// Creates a ledger of one room with this many subscribers.
    static func ledger(subscribers: Int) -> Ledger {
        var ledger = Ledger(run: 1, rooms: 2)
        for id in 0..<subscribers { #expect(ledger.addSubscriber(id: id, room: 0) == id) }
        return ledger
    }

    static func mark(_ number: Int, room: Int = 0, run: Int64 = 1) -> Mark {
        Mark(run: run, room: room, number: number, time: 0)
    }

    @Test func `the last subscriber completes a message`() {
        var ledger = Self.ledger(subscribers: 3)
        #expect(ledger.enter(Self.mark(0), subscriber: 1) == .new)
        #expect(ledger.enter(Self.mark(0), subscriber: 0) == .new)
        #expect(!ledger.isLevel { _ in false })
        #expect(ledger.enter(Self.mark(0), subscriber: 2) == .complete)
        #expect(ledger.isLevel { _ in false })
        #expect(ledger.deliveries == 3)
    }

    @Test func `a later subscriber is compared with the order that others have seen`() {
        var first = Self.ledger(subscribers: 1)
        for number in [2, 0, 1] { _ = first.enter(Self.mark(number), subscriber: 0) }
        var later = Ledger(run: 1, rooms: 2)
        later.adopt(History([Self.ledger(subscribers: 1), first, later]))
        #expect(later.rooms.map(\.order) == [[2, 0, 1], []])
        #expect(later.deliveries == 0 && !later.rooms[0].hasListeners)
        #expect(later.addSubscriber(id: 7, room: 0, start: 1) == 0)
        #expect(later.enter(Self.mark(0), subscriber: 0) == .complete)
        #expect(!later.isLevel { _ in false })
        #expect(later.enter(Self.mark(1), subscriber: 0) == .complete)
        #expect(later.isLevel { _ in false } && later.subscribers[0].faults == nil)
    }

    @Test func `the order is the one in which messages are first received`() {
        var ledger = Self.ledger(subscribers: 2)
        for number in [2, 0, 1] { #expect(ledger.enter(Self.mark(number), subscriber: 0) == .new) }
        for number in [2, 0, 1] { #expect(ledger.enter(Self.mark(number), subscriber: 1) == .complete) }
        #expect(ledger.rooms[0].order == [2, 0, 1])
        #expect(ledger.subscribers.allSatisfy { $0.faults == nil })
    }

    @Test func `a gap is remembered, and filled by a late message`() {
        var ledger = Self.ledger(subscribers: 2)
        for number in 0..<5 { _ = ledger.enter(Self.mark(number), subscriber: 0) }
        #expect(ledger.enter(Self.mark(4), subscriber: 1) == .complete)
        #expect(ledger.subscribers[1].received == 1)
        #expect(ledger.subscribers[1].faults?.skipped == [0..<4])
        #expect(ledger.enter(Self.mark(2), subscriber: 1) == .complete)
        #expect(ledger.subscribers[1].faults?.skipped == [0..<2, 3..<4])
        #expect(ledger.subscribers[1].faults?.late == 1)
        #expect(ledger.enter(Self.mark(2), subscriber: 1) == .duplicate)
        for number in [0, 1, 3] { _ = ledger.enter(Self.mark(number), subscriber: 1) }
        #expect(ledger.subscribers[1].received == 5)
        #expect(ledger.isLevel { _ in false })
    }

    @Test func `a message that arrives again is a duplicate, also for its first reader`() {
        var ledger = Self.ledger(subscribers: 1)
        #expect(ledger.enter(Self.mark(0), subscriber: 0) == .complete)
        #expect(ledger.enter(Self.mark(0), subscriber: 0) == .duplicate)
        #expect(ledger.deliveries == 1)
        #expect(ledger.subscribers[0].faults?.duplicates == 1)
    }

    @Test func `a new message while others are pending leaves a gap`() {
        var ledger = Self.ledger(subscribers: 2)
        for number in 0..<3 { _ = ledger.enter(Self.mark(number), subscriber: 0) }
        #expect(ledger.enter(Self.mark(7), subscriber: 1) == .new)
        #expect(ledger.rooms[0].order == [0, 1, 2, 7])
        #expect(ledger.subscribers[1].faults?.skipped == [0..<3])
    }

    @Test func `marks of other runs and rooms are counted separately`() {
        var ledger = Self.ledger(subscribers: 1)
        #expect(ledger.enter(Self.mark(0, run: 2), subscriber: 0) == .foreign)
        #expect(ledger.enter(Self.mark(0, room: 1), subscriber: 0) == .foreign)
        #expect(ledger.foreign == 1)
        #expect(ledger.misrouted == 1)
        #expect(ledger.deliveries == 0)
    }

    @Test func `a number far beyond all others is garbled, and takes no memory`() {
        var ledger = Self.ledger(subscribers: 1)
        #expect(ledger.enter(Self.mark(RoomLedger.window), subscriber: 0) == .complete)
        #expect(ledger.enter(Self.mark(RoomLedger.window + 2), subscriber: 0) == .foreign)
        #expect(ledger.enter(Self.mark(Int(UInt32.max)), subscriber: 0) == .foreign)
        #expect(ledger.foreign == 2)
    }

    @Test func `a removed subscriber is not waited for`() {
        var ledger = Self.ledger(subscribers: 2)
        ledger.removeSubscriber(at: 1)
        #expect(ledger.enter(Self.mark(0), subscriber: 0) == .complete)
        #expect(!ledger.isLevel { _ in false })
        #expect(ledger.isLevel { $0 == 1 })
    }

    @Test func `a list of numbers shows runs, within a bound`() {
        #expect(NumberList([]).description == "")
        #expect(NumberList([3]).description == "3")
        #expect(NumberList([9, 4, 5, 6, 7, 8, 12]).description == "4-9, 12")
        #expect(NumberList(Array(stride(from: 0, to: 100, by: 2))).description == "0, 2, 4, 6, 8, 10, 12, 14, …")
    }
}
