import CLibwebsockets
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Transport

@Suite("The end of a server")
struct StopTests {
    @Test(arguments: [false, true])
    func `Winding down stops accepting, and every handler is notified`(encrypted: Bool) throws {
        var script = Script()
        script.shuttingDown = { connection in
            connection.write(Array("goodbye".utf8))
            connection.finish()
        }
        let certificate = encrypted ? try TestCertificate() : nil
        try withServer(script, loops: 2, certificate: certificate) { server in
            let clients = try (0..<8).map { _ in
                let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
                try client.send("!")
                #expect(try client.receive(asLongAs: "!") == "!")
                return client
            }
            server.group.windDown()
            for client in clients {
                #expect(try client.receiveToEnd() == Array("goodbye".utf8))
                client.close()
            }
            try server.events.wait { $0.filter { $0 == .closed }.count == clients.count }
            #expect(throws: TestClientError.refused) { try TestClient(port: server.port) }
            #expect(server.group.connectionCount == 0)
        }
    }

    @Test func `A client in the middle of its handshake is cut when winding down`() throws {
        let certificate = try TestCertificate()
        try withServer(certificate: certificate) { server in
            let client = try TestClient(port: server.port)
            try server.waitUntil { $0.connectionCount == 1 }
            server.group.windDown()
            try client.waitForEnd()
            #expect(server.events.events == [])
        }
    }

    @Test(arguments: [false, true])
    func `Stopping cuts all open connections: served, congested, finishing, refused and half-open`(encrypted: Bool)
        throws
    {
        var script = Script()
        script.received = { connection, bytes in
            if bytes != Array("idle".utf8) { connection.write([UInt8](repeating: 0, count: 20_000_000)) }
            if bytes == Array("finish".utf8) { connection.finish() }
            if bytes == Array("pause".utf8) { connection.isReadingPaused = true }
            if bytes == Array("idle".utf8) { connection.write(bytes) }
        }
        let certificate = encrypted ? try TestCertificate() : nil
        let limits = TransportLimits(connections: encrypted ? 5 : 4)
        let (clients, events) = try withServer(script, limits: limits, certificate: certificate) { server in
            var clients = try ["idle", "congest", "finish", "pause"].map { text in
                let client = try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
                try client.send(text)
                try server.events.wait(for: .received(text))
                return client
            }
            // One more, which is refused or makes no handshake.
            clients.append(try TestClient(port: server.port))
            try server.waitUntil { $0.connectionCount == 5 }
            return (clients, server.events)
        }
        for client in clients { try client.waitForEnd() }
        #expect(events.events.filter { $0 == .closed }.count == 4)
        #expect(events.events.filter { $0 == .opened }.count == 4)
    }

    @Test func `A handler can make any call when it learns of the stop`() throws {
        var script = Script()
        let connections = Recorder<LoopBound<Connection>>()
        script.opened = { connections.record(LoopBound($0, of: $0.loop)) }
        script.closed = { connection in
            for other in connections.events { other.value.abort() }
            connection.write([1])
            connection.loop.post { Issue.record("nothing runs any more") }
            connection.loop.atEndOfTurn {}
            let address = try? PeerAddress(host: "127.0.0.1", port: 1)
            if let address { _ = try? connection.loop.connect(to: address) { _ in fatalError("stopped") } }
        }
        let clients = try withServer(script) { server in
            try (1...3).map { count in
                let client = try TestClient(port: server.port)
                try connections.wait(for: count)
                return client
            }
        }
        for client in clients { try client.waitForEnd() }
    }

    @Test(arguments: [false, true])
    func `A stopped server has released its threads, descriptors and handlers`(encrypted: Bool) async {
        // In a process of its own, so that nothing else opens descriptors.
        if encrypted {
            await #expect(processExitsWith: .success) { try checkLeftovers(encrypted: true) }
        } else {
            await #expect(processExitsWith: .success) { try checkLeftovers(encrypted: false) }
        }
    }

    @Test func `Starting and stopping quickly and repeatedly is safe, also for others' descriptors`() async {
        await #expect(processExitsWith: .success) {
            let isDone = Atomic<Bool>(false)
            // Another task keeps opening and closing files, which must not be closed by the loops.
            let lost = Task.detached {
                var lost = 0
                while !isDone.load(ordering: .relaxed) {
                    let descriptor = open("/dev/null", O_RDONLY)
                    sched_yield()
                    if close(descriptor) != 0 { lost += 1 }
                }
                return lost
            }
            for _ in 0..<300 {
                let group = try LoopGroup(count: 2)
                _ = try group.listen(host: "localhost", port: 0) {
                    ScriptedHandler(Script(), on: $0, events: Recorder())
                }
                group.stop()
            }
            isDone.store(true, ordering: .relaxed)
            #expect(await lost.value == 0)
        }
    }

    @Test func `The library logs no errors, and its errors would be noticed`() async {
        await #expect(processExitsWith: .success) {
            let lines = Recorder<String>()
            LibraryLog.send { level, line in lines.record("\(level): \(line)") }
            try cycle(encrypted: false, times: 2)
            try cycle(encrypted: true, times: 2)
            #expect(lines.events == [])
            withVaList([]) { _lws_logv(LLL_WARN, "odd\n", $0) }
            withVaList([]) { _lws_logv(LLL_ERR, "bad\n", $0) }
            #expect(lines.events.count == 2)
            #expect(lines.events.first?.hasPrefix("warning: ") == true && lines.events.first?.hasSuffix("odd") == true)
            #expect(lines.events.last?.hasPrefix("error: ") == true && lines.events.last?.hasSuffix("bad") == true)
        }
    }
}

/// Starts a server, serves clients, and stops it, this many times.
private func cycle(encrypted: Bool, times: Int) throws {
    let certificate = encrypted ? try TestCertificate() : nil
    for _ in 0..<times {
        try withServer(loops: 2, certificate: certificate) { server in
            let clients = try (0..<8).map { _ in
                try TestClient(port: server.port, tls: encrypted ? TLSOptions(.tls13) : nil)
            }
            for client in clients { try client.send("hello") }
            for client in clients { #expect(try client.receive(asLongAs: "hello") == "hello") }
        }
    }
}

/// Starts and stops a server hundreds of times, and checks for leaks.
private func checkLeftovers(encrypted: Bool) throws {
    // After the first runs, everything that stays open for the process is open.
    try cycle(encrypted: encrypted, times: 10)
    let (descriptors, memory) = (try openDescriptors(), try residentMemory())
    try cycle(encrypted: encrypted, times: 200)
    #expect(try openDescriptors() == descriptors)
    #expect(try threadNames().filter { $0.hasPrefix("loop ") } == [])
    // A leaked context takes about 200 KB.
    #expect(try residentMemory() - memory < 20_000_000)
}
