import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The queue of reads")
struct ReadQueueTests {
    private static let limits = ReadQueue.Limits(queries: 10_000, queriesOfClient: 1000, longReaders: 1)

    /// Creates a quick query. The number of the loop tells queries apart.
    private func query(_ number: Int, of user: String) throws -> Query {
        query(number, of: .user(try UserID(user)), room: try RoomID("lobby"))
    }

    private func query(_ number: Int, of client: QueryClient, room: RoomID) -> Query {
        Query(Reply(loop: number, client: client) { _ in }) { .room(room, .state($0)) }
    }

    private func list(_ number: Int, of user: String) throws -> Query {
        Query(Reply(loop: number, client: .user(try UserID(user))) { _ in }) {
            .ownRooms(.memberships(limit: 10, $0), within: nil)
        }
    }

    private func numbers(_ turn: ReadQueue.Turn?) -> [Int]? { turn?.queries.map(\.reply.loop) }

    @Test func `serves clients in turn, each in the order of its queries`() throws {
        let queue = Reads(Self.limits)
        for number in 0..<6 { #expect(queue.append(try query(number, of: "mallory"))) }
        #expect(queue.append(try query(10, of: "alice")))
        #expect(queue.append(try query(20, of: "bob")))
        #expect(queue.append(try query(11, of: "alice")))
        #expect(queue.count == 9)
        #expect(numbers(queue.next(4)) == [0, 10, 20, 1])
        // A later client waits for one turn of each other client.
        #expect(queue.append(try query(30, of: "carol")))
        #expect(numbers(queue.next(3)) == [11, 2, 30])
        #expect(numbers(queue.next(10)) == [3, 4, 5])
        #expect(queue.next(10) == nil && queue.count == 0)
    }

    @Test func `separates clients without a name by address and connection`() throws {
        let queue = Reads(Self.limits)
        let clients: [QueryClient] = [.address(1), .address(1), .connection(1), .address(2)]
        for (index, client) in clients.enumerated() {
            #expect(queue.append(query(index, of: client, room: try RoomID("lobby"))))
        }
        #expect(numbers(queue.next(10)) == [0, 2, 3, 1])
    }

    @Test func `serves quick queries before long ones, which get every fifth turn`() throws {
        let queue = Reads(Self.limits)
        #expect(Self.limits.quickTurns == 4)
        for user in ["a", "b"] { #expect(queue.append(try list(100, of: user))) }
        for number in 0..<12 { #expect(queue.append(try query(number, of: "c"))) }
        for turn in 0..<4 { #expect(numbers(queue.next(2)) == [turn * 2, turn * 2 + 1]) }
        let long = try #require(queue.next(2))
        #expect(long.isLong && long.queries.count == 2)
        queue.done(long)
        #expect(numbers(queue.next(2)) == [8, 9])
    }

    @Test func `runs one long query of a client at a time, and keeps readers free for quick ones`() throws {
        var limits = Self.limits
        limits.longReaders = 2
        limits.longQueries = 2
        let queue = Reads(limits)
        for number in 0..<3 { #expect(queue.append(try list(number, of: "a"))) }
        for (index, user) in ["b", "c", "d", "e"].enumerated() {
            #expect(queue.append(try list(10 + index, of: user)))
        }
        let first = try #require(queue.next(32))
        let second = try #require(queue.next(32))
        #expect(numbers(first) == [0, 10] && numbers(second) == [11, 12])
        // Both readers allowed for long queries are busy; quick ones go to a third.
        #expect(queue.next(32) == nil && !queue.hasTurn)
        #expect(queue.append(try query(50, of: "a")))
        #expect(numbers(queue.next(32)) == [50])
        queue.done(second)
        let third = try #require(queue.next(32))
        #expect(numbers(third) == [13])
        queue.done(third)
        // The next list of "a" waits for the first one, although a reader is free.
        #expect(queue.next(32) == nil)
        queue.done(first)
        for expected in [1, 2] {
            let turn = try #require(queue.next(32))
            #expect(numbers(turn) == [expected] && queue.next(32) == nil)
            queue.done(turn)
        }
        #expect(queue.count == 0)
    }

    @Test func `drops cancelled queries, so that repeated lists leave one to serve`() throws {
        let queue = Reads(Self.limits)
        let running = try list(0, of: "mallory")
        #expect(queue.append(running))
        let turn = try #require(queue.next(32))
        var served = 1
        for number in 1...1650 {
            let query = try list(number, of: "mallory")
            #expect(queue.append(query))
            #expect(queue.count == 1)
            queue.cancel(query.reply)
        }
        #expect(queue.count == 0)
        #expect(queue.append(try query(5000, of: "victim")))
        #expect(numbers(queue.next(32)) == [5000])
        queue.done(turn)
        while let next = queue.next(32) {
            served += next.queries.count
            queue.done(next)
        }
        #expect(served == 1)
        // Running and unknown queries cannot be cancelled.
        queue.cancel(running.reply)
        #expect(queue.count == 0)
    }

    @Test func `bounds the queries of each client and of all`() throws {
        let queue = Reads(ReadQueue.Limits(queries: 5, queriesOfClient: 3, longReaders: 1))
        var admitted: [Bool] = []
        for number in 0..<4 {
            admitted.append(queue.append(number == 1 ? try list(number, of: "a") : try query(number, of: "a")))
        }
        #expect(admitted == [true, true, true, false])
        #expect(queue.append(try query(10, of: "b")))
        let cancelled = try query(11, of: "c")
        #expect(queue.append(cancelled))
        #expect(!queue.append(try query(12, of: "d")))
        #expect(queue.count == 5)
        queue.cancel(cancelled.reply)
        #expect(queue.append(try query(12, of: "d")))
        #expect(StoreConfiguration().queryQueue == 65_536 && StoreConfiguration().queriesOfClient == 16_384)
    }

    @Test func `does not grow by cancelled queries while no reader is free`() throws {
        let queue = Reads(ReadQueue.Limits(queries: 5, queriesOfClient: 3, longReaders: 1))
        var admitted = 0
        for number in 0..<100 {
            let query = try query(number, of: "user\(number)")
            if queue.append(query) { admitted += 1 }
            queue.cancel(query.reply)
        }
        #expect(admitted == 5 && queue.count == 0)
        #expect(queue.next(32) == nil)
        #expect(queue.append(try query(200, of: "alice")))
    }

    @Test func `loses and repeats nothing in any mixture of queries, cancellations and readers`() throws {
        var generator = SeededGenerator(seed: 16)
        var limits = Self.limits
        limits.longReaders = 2
        let queue = Reads(limits)
        var waiting: [Int: Query] = [:]
        var running: [ReadQueue.Turn] = []
        for number in 0..<5000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let user = "user\(Int.random(in: 0..<4, using: &generator))"
                let isLong = Bool.random(using: &generator)
                let query = isLong ? try list(number, of: user) : try query(number, of: user)
                #expect(queue.append(query))
                waiting[number] = query
            case 5..<7:
                guard let query = waiting.values.randomElement(using: &generator) else { continue }
                queue.cancel(query.reply)
                waiting[query.reply.loop] = nil
            default:
                if running.count == 3 || Bool.random(using: &generator), let turn = running.popLast() {
                    queue.done(turn)
                }
                guard running.count < 3, let turn = queue.next(3) else { continue }
                for query in turn.queries { #expect(waiting.removeValue(forKey: query.reply.loop) != nil) }
                let served = (running + [turn]).filter(\.isLong).flatMap(\.queries).map(\.reply.client)
                #expect(Set(served).count == served.count && (running + [turn]).filter(\.isLong).count <= 2)
                running.append(turn)
            }
            #expect(queue.count == waiting.count)
        }
        for query in queue.removeAll() { #expect(waiting.removeValue(forKey: query.reply.loop) != nil) }
        #expect(waiting.isEmpty && queue.count == 0)
    }
}

/// A queue that expectations can call.
private final class Reads {
    private var queue: ReadQueue

    init(_ limits: ReadQueue.Limits) { queue = ReadQueue(limits) }

    var count: Int { queue.count }
    var hasTurn: Bool { queue.hasTurn }
    func append(_ query: Query) -> Bool { queue.append(query) }
    func next(_ most: Int) -> ReadQueue.Turn? { queue.next(most) }
    func done(_ turn: ReadQueue.Turn) { queue.done(turn) }
    func cancel(_ reply: any PendingReply) { queue.cancel(reply) }
    func removeAll() -> [Query] { queue.removeAll() }
}
