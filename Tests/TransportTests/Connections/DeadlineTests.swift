import TestSupport
import Testing

@testable import Transport

@Suite("Deadlines")
struct DeadlineTests {
    @Test func `The handler is called once, not before the deadline`() throws {
        let spent = Recorder<Duration>()
        var script = Script()
        script.opened = { connection in
            let start = connection.loop.time
            connection.setDeadline(.milliseconds(150))
            spent.record(start)
        }
        script.deadline = { spent.record($0.loop.time) }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            let times = try spent.wait(for: 2)
            #expect(times[1] - times[0] >= .milliseconds(150))
            try client.send("still here")
            #expect(try client.receive(asLongAs: "still here") == "still here")
            #expect(server.events.events == [.opened, .deadline, .received("still here")])
        }
    }

    @Test(arguments: [(100, 300), (300, 100)])
    func `A deadline replaces the previous one, earlier or later`(first: Int, second: Int) throws {
        let spent = Recorder<Duration>()
        var script = Script()
        script.opened = { connection in
            connection.setDeadline(.milliseconds(first))
            connection.setDeadline(.milliseconds(second))
            spent.record(connection.loop.time)
        }
        script.deadline = {
            spent.record($0.loop.time)
            $0.finish()
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            #expect(try client.receiveToEnd() == [])
            client.close()
            try server.events.wait(for: .closed)
            #expect(server.events.events == [.opened, .deadline, .closed])
            #expect(spent.events[1] - spent.events[0] >= .milliseconds(second))
        }
    }

    @Test func `A cancelled deadline does not fire`() throws {
        var script = Script()
        script.received = { connection, bytes in
            connection.setDeadline(.milliseconds(100))
            if bytes == Array("take back".utf8) { connection.setDeadline(nil) }
            connection.write(bytes)
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            try client.send("take back")
            #expect(try client.receive(asLongAs: "take back") == "take back")
            // A later deadline of another connection fires, so the cancelled one would have fired.
            let other = try TestClient(port: server.port)
            try other.send("set")
            try server.events.wait(for: .deadline)
            #expect(server.events.events.filter { $0 == .deadline }.count == 1)
        }
    }

    @Test func `A handler can set the next deadline when one has passed`() throws {
        var script = Script()
        script.opened = { $0.setDeadline(.milliseconds(1)) }
        script.deadline = {
            $0.write(Array(".".utf8))
            $0.setDeadline(.milliseconds(1))
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            #expect(try client.receive(asLongAs: "....") == "....")
        }
    }

    @Test func `Deadlines of several connections fire in order`() throws {
        let connections = Recorder<LoopBound<Connection>>()
        let order = Recorder<UInt64>()
        var script = Script()
        script.opened = { connections.record(LoopBound($0, of: $0.loop)) }
        script.deadline = { order.record($0.id) }
        try withServer(script) { server in
            let clients = try (1...3).map { _ in try TestClient(port: server.port) }
            let all = try connections.wait(for: 3)
            server.loop.post {
                // The first connection waits longest.
                for connection in all.map(\.value) {
                    connection.setDeadline(.milliseconds(500 - 100 * Int(connection.id)))
                }
            }
            #expect(try order.wait(for: 3) == [3, 2, 1])
            for client in clients { client.close() }
        }
    }

    @Test(arguments: [true, false])
    func `Closed connections get no calls`(aborts: Bool) throws {
        var script = Script()
        script.opened = { $0.setDeadline(.milliseconds($0.id == 1 ? 1000 : 1200)) }
        script.received = { connection, _ in if aborts { connection.abort() } }
        try withServer(script) { server in
            let gone = try TestClient(port: server.port)
            try gone.send("!")
            if !aborts { gone.close() }
            try server.events.wait(for: .closed)
            let stays = try TestClient(port: server.port)
            try server.events.wait(for: .deadline)
            #expect(server.events.events.filter { $0 == .deadline }.count == 1)
            stays.close()
        }
    }

    @Test func `Work that a deadline queued is flushed at the end of the same turn`() throws {
        let order = Recorder<String>()
        var script = Script()
        script.opened = { connection in
            connection.loop.atEndOfTurn { order.record("end of turn") }
            connection.setDeadline(.milliseconds(100))
        }
        script.deadline = { connection in
            order.record("deadline")
            let loop = connection.loop
            // The loop's own clock makes another turn within 100 ms.
            loop.post { order.record("next turn") }
        }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            let events = try order.wait(for: "next turn")
            let deadline = try #require(events.firstIndex(of: "deadline"))
            #expect(events[deadline + 1] == "end of turn")
            client.close()
        }
    }

    @Test func `A very long time never fires, and a negative one fires at once`() throws {
        var script = Script()
        script.opened = { $0.setDeadline(.seconds(Int64.max)) }
        script.received = { connection, _ in connection.setDeadline(.seconds(Int64.min)) }
        try withServer(script) { server in
            let client = try TestClient(port: server.port)
            try client.send("now")
            try server.events.wait(for: .deadline)
            #expect(server.events.events == [.opened, .received("now"), .deadline])
        }
    }

    @Test(arguments: [
        (Duration.zero, 0), (.nanoseconds(1), 1), (.microseconds(999), 1), (.milliseconds(1), 1),
        (.seconds(2), 2000),
        (.microseconds(1001), 2), (.milliseconds(-1500), -1500),
    ])
    func `Milliseconds are rounded up`(duration: Duration, milliseconds: Int) {
        #expect(duration.roundedMilliseconds == milliseconds)
    }
}
