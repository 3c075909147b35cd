import Server
import TestSupport
import Testing
import Transport
import WebSocket

@Suite("A socket's end")
struct SocketEndTests {
    @Test(arguments: [1000, 1001, 3000, 4999] as [UInt16])
    func `answers the client's close with the same code`(code: UInt16) throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            try socket.send(.close, [UInt8(code >> 8), UInt8(code & 255)] + Array("bye".utf8))
            guard case .close(CloseCode(rawValue: code)?, _) = try socket.event() else { throw Unexpected("no close") }
            #expect(try socket.http.socket.receiveToEnd().isEmpty)
        }
    }

    @Test func `without a code is answered without a code`() throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            try socket.send(.close, [])
            #expect(try socket.event() == .close(code: nil, reason: []))
            #expect(try socket.http.socket.receiveToEnd().isEmpty)
        }
    }

    @Test func `comes after messages that were sent before it`() throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            try socket.http.write(
                WebSocketClient.frame(.text, Array("{}".utf8)) + WebSocketClient.frame(.close, []))
            #expect(try socket.frame().errorCode == "invalid_field")
            #expect(try socket.event() == .close(code: nil, reason: []))
        }
    }

    @Test(arguments: [true, false])
    func `is the last frame: messages sent to the room later are not delivered`(isOfRoom: Bool) throws {
        try withServer { server in
            let socket = try WebSocketClient(port: server.port, isOfRoom ? "/v1/rooms/lobby/live" : "/v1/live")
            if !isOfRoom { try socket.send(#"{"type":"subscribe","room":"lobby"}"#) }
            try socket.greeting()
            try socket.send(.binary, [])
            guard case .close(.unsupportedData?, _) = try socket.event() else { throw Unexpected("no close") }
            // While the server waits for the answer. The second send is answered after the first was pushed.
            let sender = try HTTPClient(port: server.port)
            for number in 0..<2 { try sender.send("\(number)") }
            try socket.send(.close, ClosePayload(code: .unsupportedData).encoded())
            #expect(try socket.http.socket.receiveToEnd().isEmpty)
        }
    }

    @Test func `is 1001 when the server stops`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let sockets = try (0..<8).map { _ in try WebSocketClient(port: server.port) }
            for socket in sockets { try socket.greeting() }
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            let running = server.server!
            try concurrently([{ running.stop() }]) {
                for socket in sockets {
                    let code = try socket.closeCode()
                    #expect(code == .goingAway)
                }
                let end = try stream.block()
                #expect(end == nil)
            }
        }
    }

    @Test func `comes after two unanswered pings, and not before`() throws {
        try withServer {
            $0.webSocket.pingInterval = .milliseconds(1500)
        } _: { server in
            let silent = try WebSocketClient(port: server.port)
            try silent.greeting()
            let answering = try WebSocketClient(port: server.port)
            try answering.greeting()
            for _ in 1...4 {
                guard case .ping(let payload) = try answering.event() else { throw Unexpected("no ping") }
                try answering.send(.pong, payload)
            }
            #expect(try silent.event() == .ping([]))
            #expect(try silent.event() == .ping([]))
            try silent.http.socket.waitForEnd()
            try HTTPClient(port: server.port).send("x")
            #expect(try answering.message().text == "x")
        }
    }

    @Test func `does not come while the client reads slowly and there is no room for pings`() throws {
        try withServer {
            $0.webSocket.pingInterval = .milliseconds(200)
            $0.transport.sendBuffer = 16 * 1024
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let text = String(repeating: "x", count: 16_000)
            let count = 300
            for _ in 0..<count { try client.send(text) }
            let socket = try WebSocketClient(
                port: server.port, "/v1/rooms/lobby/live?since=0", receiveBuffer: 4096)
            // Reads a little at each ping of another socket, which allows three missed pings.
            let clock = try WebSocketClient(port: server.port, "/v1/rooms/clock/live")
            try clock.greeting()
            var messages = 0
            for share in 1...8 {
                guard case .ping(let payload) = try clock.event() else { throw Unexpected("no ping") }
                try clock.send(.pong, payload)
                // Also answers pings, if any arrive.
                while messages < count * share / 8 { if try socket.frame().message != nil { messages += 1 } }
            }
            #expect(messages == count)
        }
    }
}
