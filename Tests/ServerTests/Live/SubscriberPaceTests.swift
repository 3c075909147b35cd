import Server
import Testing
import Transport

@Suite("New subscribers while messages are being sent")
struct SubscriberPaceTests {
    @Test(arguments: ["room", "rooms", "events"])
    func `wait for those before them, whatever kind of connection they use`(kind: String) throws {
        try withServer({
            $0.threads = 1
            $0.transport.acceptRate = 20
            $0.transport.acceptBurst = 1
        }) { server in
            let sender = try HTTPClient(port: server.port)
            try sender.send("1")
            let start = ContinuousClock.now
            // Kept, so that they stay connected.
            var clients: [AnyObject] = []
            for _ in 0..<4 {
                switch kind {
                case "room": clients.append(try WebSocketClient(port: server.port, "/v1/rooms/lobby/live"))
                case "rooms": clients.append(try WebSocketClient(port: server.port, "/v1/live"))
                default: clients.append(try EventStreamClient(port: server.port))
                }
            }
            // The third waits for two shares of 50 ms, less the inaccuracy of timers.
            #expect(ContinuousClock.now - start >= .milliseconds(90))
            #expect(clients.count == 4)
        }
    }
}
