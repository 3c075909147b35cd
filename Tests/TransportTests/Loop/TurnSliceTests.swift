import Synchronization
import TestSupport
import Testing

@testable import Transport

@Suite("A connection's slice of a turn")
struct TurnSliceTests {
    @Test func `begins with the second piece, and is over after a millisecond`() {
        let start = ContinuousClock.now
        var slice = TurnSlice()
        // The first piece may take any time, and the end of the input is no piece.
        let (first, end) = (slice.isOver(hasMore: true, at: start), slice.isOver(hasMore: false, at: start))
        #expect(!first && !end)
        let answers = [.seconds(1), .microseconds(1_000_999), .milliseconds(1001), .seconds(2)].map {
            slice.isOver(hasMore: true, at: start + $0)
        }
        #expect(answers == [false, false, true, true])
    }

    /// Takes more time than a slice.
    @Sendable private static func work() {
        let end = ContinuousClock.now + TurnSlice.length
        while ContinuousClock.now < end {}
    }

    @Test func `lets other connections be served while input without an end waits for its turns`() throws {
        let isServed = Atomic(false)
        var script = Script()
        script.received = { connection, bytes in
            if bytes == Array("endless".utf8) {
                connection.awaitTurn()
            } else {
                isServed.store(true, ordering: .relaxed)
            }
        }
        script.turn = { connection in
            Self.work()
            if isServed.load(ordering: .relaxed) { connection.write(Array("end".utf8)) } else { connection.awaitTurn() }
        }
        try withServer(script) { server in
            let busy = try TestClient(port: server.port)
            try busy.send("endless")
            try server.events.wait(for: .turn)
            let other = try TestClient(port: server.port)
            try other.send("other")
            #expect(try busy.receive { $0.count == 3 } == Array("end".utf8))
        }
    }

    @Test func `is given to waiting connections in order, one in each turn if they use all of it`() throws {
        let order = Recorder<String>()
        let waiting = Mutex<[LoopBound<Connection>]>([])
        var script = Script()
        script.received = { connection, bytes in
            waiting.withLock { $0.append(LoopBound(connection, of: connection.loop)) }
        }
        script.turn = { connection in
            Self.work()
            order.record("turn \(connection.id)")
        }
        try withServer(script) { server in
            let loop = server.loop
            let clients = try (0..<3).map { _ in try TestClient(port: server.port) }
            for client in clients { try client.send("x") }
            try server.events.wait { $0.count { $0 == .received("x") } == 3 }
            loop.post {
                loop.atEndOfTurn { order.record("end") }
                for connection in waiting.withLock({ $0 }) {
                    order.record("await \(connection.value.id)")
                    connection.value.awaitTurn()
                    // A second call changes nothing.
                    connection.value.awaitTurn()
                }
            }
            let events = try order.wait { events in
                events.count { $0.hasPrefix("turn") } == 3 && events.last == "end"
            }.prefix(9)
            let ids = events.prefix(3).map { $0.dropFirst("await ".count) }
            #expect(Array(events[3...]) == ids.flatMap { ["turn \($0)", "end"] })
        }
    }

    @Test func `that is awaited pauses reading, and is not given to a connection that has ended`() throws {
        let connection = Mutex<LoopBound<Connection>?>(nil)
        var script = Script()
        script.received = { arrived, _ in
            connection.withLock { $0 = LoopBound(arrived, of: arrived.loop) }
            arrived.awaitTurn()
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            for text in ["a", "b"] {
                try client.send(text)
                try server.events.wait { $0.suffix(2) == [.received(text), .turn] }
            }
            try server.loop.run {
                let connection = connection.withLock { $0 }!.value
                connection.awaitTurn()
                #expect(connection.isAwaitingTurn)
                connection.abort()
            }
            try server.events.wait(for: .closed)
            #expect(server.events.events.suffix(2) == [.turn, .closed])
        }
    }
}
