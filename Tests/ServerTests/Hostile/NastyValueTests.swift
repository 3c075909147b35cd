import HTTP
import HTTPTypes
import Testing
import WebSocket

@Suite("Troublesome values")
struct NastyValueTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `are served or refused in requests, always with JSON answers`(seed: UInt64) throws {
        try withServer { server in
            var values = NastyValues(seed: seed)
            var client = try HTTPClient(port: server.port)
            var served = 0
            for _ in 0..<500 {
                let request = values.request()
                try client.write(request)
                let response = try client.response()
                let text = String(decoding: request, as: UTF8.self).prefix(300)
                #expect(response.status.code < 500, "\(text)")
                if response.status.kind == .clientError {
                    _ = try response.problem
                } else {
                    served += 1
                }
                if !response.keepAlive {
                    // Refused by its head, before all of its body had arrived.
                    #expect(request.count > 16 * 1024 && response.status.kind == .clientError, "\(text)")
                    client = try HTTPClient(port: server.port)
                }
            }
            #expect(served > 20)
            #expect(try client.get("/readyz").status == .ok)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `are served or refused in frames, or end the socket`(seed: UInt64) throws {
        try withServer { server in
            var values = NastyValues(seed: seed)
            let client = try HTTPClient(port: server.port)
            for _ in 0..<50 {
                let socket = try WebSocketClient.forRooms(port: server.port)
                try socket.http.write((0..<10).flatMap { _ in values.frame() })
                // The server answers this last, at the latest by closing.
                try? socket.send(.close, ClosePayload(code: .normalClosure).encoded())
                _ = try socket.closeCode()
            }
            #expect(try client.get("/readyz").status == .ok)
        }
    }

    @Test(arguments: NastyValues.places)
    func `are served or refused in subscriptions`(place: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            for query in ["since=\(place)", "epoch=\(place)", "since=1&epoch=\(place)"] {
                do {
                    _ = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?\(query)")
                } catch let refusal as Unexpected {
                    #expect((400..<500).contains(refusal.status), "\(query)")
                }
            }
            #expect(try client.get("/readyz").status == .ok)
        }
    }
}
