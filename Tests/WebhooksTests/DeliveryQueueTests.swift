import TestSupport
import Testing
import Wire

@testable import Webhooks

@Suite("A webhook's queue of deliveries")
struct DeliveryQueueTests {
    private let start = ContinuousClock.now
    private let a = RoomID(trusted: "a")
    private let b = RoomID(trusted: "b")

    @Test func `has one delivery of a room in flight, and 8 in all`() {
        let queue = Subject()
        let rooms = (0..<20).map { RoomID(trusted: "room-\($0)") }
        for room in rooms { queue.changed(room) }
        #expect(queue.next(at: start) == Array(rooms[..<8]))
        for room in rooms { queue.changed(room) }
        #expect(queue.next(at: start) == [])
        #expect(queue.answered(rooms[3], .status(204), hasMore: false, at: start, share: 1))
        // It has changed during its delivery, and waits behind the others.
        #expect(queue.next(at: start) == [rooms[8]])
        #expect(queue.roomsBehind == 20)
    }

    @Test func `forgets a room that the receiver has all of`() {
        let queue = Subject()
        queue.changed(a)
        #expect(queue.next(at: start) == [a])
        #expect(queue.answered(a, .status(200), hasMore: true, at: start, share: 1))
        #expect(queue.next(at: start) == [a])
        #expect(queue.answered(a, .status(200), hasMore: false, at: start, share: 1))
        #expect(queue.roomsBehind == 0)
        #expect(queue.next(at: start) == [])
    }

    @Test(arguments: [.status(301), .status(404), .status(500), .status(101), .status(600), .none] as [DeliveryAnswer])
    func `tries again after redirects, errors and no answer, for as long as it takes`(answer: DeliveryAnswer) {
        let queue = Subject()
        queue.changed(a)
        queue.changed(b)
        var now = start
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600] {
            #expect(queue.next(at: now).contains(a))
            #expect(!queue.answered(a, answer, hasMore: false, at: now, share: 1))
            #expect(queue.nextAttempt == now + .seconds(seconds))
            // The other room is on time.
            _ = queue.answered(b, .status(200), hasMore: true, at: now, share: 1)
            #expect(queue.next(at: now + .seconds(seconds) - .nanoseconds(1)) == [b])
            now += .seconds(seconds)
        }
        #expect(queue.next(at: now) == [a])
        #expect(queue.answered(a, .status(200), hasMore: false, at: now, share: 1))
        #expect(queue.nextAttempt == nil)
    }

    @Test func `waits a random part of the time, but as long as the receiver asks for, an hour at most`() {
        #expect(RetryDelay.after(failures: 5, share: 0.25) == .seconds(4))
        #expect(RetryDelay.after(failures: 5, share: 0) == .zero)
        #expect(RetryDelay.after(failures: 1, retryAfter: 30, share: 1) == .seconds(30))
        #expect(RetryDelay.after(failures: 1, retryAfter: 86_400, share: 1) == .seconds(3600))
        #expect(RetryDelay.after(failures: 1, retryAfter: -5, share: 1) == .seconds(1))
        #expect(RetryDelay.after(failures: .max, share: 1) == .seconds(3600))
    }

    @Test(arguments: [400, 413, 422])
    func `stops a room whose body is refused thrice`(status: Int) {
        let queue = Subject()
        queue.changed(a)
        var now = start
        // A failure in between counts from the beginning.
        for answer in [status, 500, status, status, status] {
            #expect(!queue.isStopped(a))
            #expect(queue.next(at: now) == [a])
            #expect(!queue.answered(a, .status(answer), hasMore: false, at: now, share: 1))
            now += .seconds(3600)
        }
        #expect(queue.isStopped(a))
        queue.changed(a)
        #expect(queue.next(at: now + .seconds(86_400)) == [])
        queue.remove(a)
        #expect(queue.roomsBehind == 0)
        queue.changed(a)
        #expect(queue.next(at: now) == [a])
    }

    @Test func `forgets a room that is ready, and none in flight`() {
        let queue = Subject()
        queue.changed(a)
        #expect(queue.next(at: start) == [a])
        queue.remove(a)
        #expect(queue.roomsBehind == 1)
        queue.changed(b)
        queue.remove(b)
        #expect(queue.next(at: start) == [])
        queue.changed(b)
        #expect(queue.next(at: start) == [b])
    }

    @Test func `attempts all rooms at once after an outage`() {
        let queue = Subject()
        queue.changed(a)
        queue.changed(b)
        var now = start
        while now - start <= DeliveryQueue.outage {
            for room in queue.next(at: now) {
                #expect(!queue.answered(room, .none, hasMore: false, at: now, share: 1))
            }
            now = max(now, queue.nextAttempt!)
        }
        #expect(Set(queue.next(at: now)) == [a, b])
        #expect(!queue.answered(b, .none, hasMore: false, at: now, share: 1))
        #expect(queue.next(at: now) == [])
        #expect(queue.answered(a, .status(200), hasMore: false, at: now, share: 1))
        #expect(queue.next(at: now) == [b])
    }

    @Test func `pauses after 410`() {
        let queue = Subject()
        queue.changed(a)
        queue.changed(b)
        #expect(queue.next(at: start) == [a, b])
        #expect(!queue.answered(a, .status(410), hasMore: false, at: start, share: 1))
        #expect(queue.answered(b, .status(200), hasMore: true, at: start, share: 1))
        #expect(queue.pause == .gone)
        #expect(queue.next(at: start + .seconds(9999)) == [])
        #expect(queue.nextAttempt == nil)
    }

    @Test func `pauses after five days without success`() {
        let queue = Subject()
        queue.changed(a)
        var now = start
        while now - start < DeliveryQueue.patience {
            #expect(queue.pause == nil)
            #expect(queue.next(at: now) == [a])
            #expect(!queue.answered(a, .none, hasMore: false, at: now, share: 1))
            now += .seconds(3600)
        }
        #expect(queue.pause == nil)
        _ = queue.next(at: now)
        #expect(!queue.answered(a, .none, hasMore: false, at: now, share: 1))
        #expect(queue.pause == .failing)
    }

    @Test func `pauses also if rooms have nothing to deliver, or cannot be read, meanwhile`() {
        let queue = Subject()
        var now = start
        while now - start < DeliveryQueue.patience {
            #expect(queue.pause == nil)
            for room in [a, b] { queue.changed(room) }
            #expect(Set(queue.next(at: now)) == [a, b])
            #expect(!queue.answered(a, .none, hasMore: false, at: now, share: 1))
            queue.hadNothing(b)
            #expect(queue.roomsBehind == 1)
            queue.changed(b)
            #expect(queue.next(at: now).contains(b))
            queue.wasUnreadable(b, at: now, share: 0)
            now += .seconds(3600)
        }
        #expect(queue.next(at: now).contains(a))
        #expect(!queue.answered(a, .none, hasMore: false, at: now, share: 1))
        #expect(queue.pause == .failing)
    }

    @Test func `does not pause for rooms that cannot be read`() {
        let queue = Subject()
        queue.changed(a)
        #expect(queue.next(at: start) == [a])
        queue.wasUnreadable(a, at: start, share: 1)
        #expect(queue.nextAttempt == start + .seconds(1))
        let later = start + DeliveryQueue.patience
        #expect(queue.next(at: later) == [a])
        #expect(!queue.answered(a, .none, hasMore: false, at: later, share: 1))
        #expect(queue.pause == nil)
    }

    @Test(arguments: 0..<50)
    func `delivers everything in order to a receiver that misbehaves`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let queue = Subject()
        let rooms = (0..<12).map { RoomID(trusted: "room-\($0)") }
        var revs: [RoomID: Int] = [:]
        var cursors: [RoomID: Int] = [:]
        var received: [RoomID: [Int]] = [:]
        // The revisions after the cursor that each delivery has.
        var flights: [RoomID: ClosedRange<Int>] = [:]
        var now = start

        func step(isQuiet: Bool) {
            if !isQuiet, Bool.random(using: &generator) {
                let room = rooms.randomElement(using: &generator)!
                revs[room, default: 0] += Int.random(in: 1...5, using: &generator)
                queue.changed(room)
            }
            for room in queue.next(at: now) {
                #expect(flights[room] == nil)
                let first = cursors[room, default: 0] + 1
                flights[room] = first...min(first + 2, revs[room]!)
            }
            #expect(flights.count <= DeliveryQueue.maximumInFlight)
            if let room = flights.keys.sorted(by: { $0.string < $1.string }).randomElement(using: &generator) {
                let flight = flights.removeValue(forKey: room)!
                let answers: [DeliveryAnswer] =
                    isQuiet
                    ? [.status(200)] : [.status(200), .status(302), .status(503, retryAfter: 2), .none]
                let answer = answers.randomElement(using: &generator)!
                // Without an answer the receiver may have it all the same.
                if answer == .status(200) || answer == .none { received[room, default: []] += flight }
                let hasMore = flight.upperBound < revs[room]!
                if queue.answered(
                    room, answer, hasMore: hasMore, at: now, share: .random(in: 0...1, using: &generator))
                {
                    cursors[room] = flight.upperBound
                }
            }
            now += .milliseconds(Int.random(in: 0...500, using: &generator))
        }
        for _ in 0..<400 { step(isQuiet: false) }
        while queue.roomsBehind > 0, now - start < .seconds(100_000) {
            step(isQuiet: true)
            if let next = queue.nextAttempt, flights.isEmpty { now = max(now, next) }
        }
        #expect(queue.roomsBehind == 0)
        for (room, rev) in revs {
            var last = 0
            for next in received[room] ?? [] where next > last {
                #expect(next == last + 1)
                last = next
            }
            #expect(last == rev)
        }
    }
}

/// A queue whose mutating methods may stand in expectations.
private final class Subject {
    private var queue = DeliveryQueue()

    var roomsBehind: Int { queue.roomsBehind }
    var pause: DeliveryQueue.Pause? { queue.pause }
    var nextAttempt: ContinuousClock.Instant? { queue.nextAttempt }

    func changed(_ room: RoomID) { queue.changed(room) }

    func next(at now: ContinuousClock.Instant) -> [RoomID] { queue.next(at: now) }

    func answered(
        _ room: RoomID, _ answer: DeliveryAnswer, hasMore: Bool, at now: ContinuousClock.Instant, share: Double
    ) -> Bool {
        queue.answered(room, answer, hasMore: hasMore, at: now, share: share)
    }

    func hadNothing(_ room: RoomID) { queue.hadNothing(room) }

    func wasUnreadable(_ room: RoomID, at now: ContinuousClock.Instant, share: Double) {
        queue.wasUnreadable(room, at: now, share: share)
    }

    func isStopped(_ room: RoomID) -> Bool { queue.isStopped(room) }

    func remove(_ room: RoomID) { queue.remove(room) }
}
