import Testing
import WebSocket

@Suite("The closing handshake, RFC 6455 §7.1")
struct CloseHandshakeTests {
    private let goingAway = ClosePayload(code: .goingAway, reason: "shutdown")

    @Test func `The server answers a Close frame with its code, and ends the connection`() {
        var handshake = CloseHandshake(role: .server)
        #expect(handshake.maySend)
        #expect(handshake.received(code: .normalClosure) == .sendAndDisconnect(ClosePayload(code: .normalClosure)))
        #expect(handshake.state == .closed)
        #expect(!handshake.maySend && !handshake.mayReceive)
    }

    @Test func `The client answers, and leaves the end of the connection to the server`() {
        var handshake = CloseHandshake(role: .client)
        #expect(handshake.received(code: .tokenExpired) == .send(ClosePayload(code: .tokenExpired)))
        #expect(handshake.state == .closed)
    }

    @Test func `A Close frame without a code is answered without one`() {
        var handshake = CloseHandshake(role: .server)
        #expect(handshake.received(code: nil) == .sendAndDisconnect(.empty))
        var careless = CloseHandshake(role: .server)
        #expect(careless.received(code: .noStatusReceived) == .sendAndDisconnect(.empty))
    }

    @Test func `After our Close frame nothing is sent, and the peer's answer ends the connection`() {
        var handshake = CloseHandshake(role: .server)
        #expect(handshake.close(goingAway) == .send(goingAway))
        #expect(handshake.state == .closing)
        #expect(!handshake.maySend && handshake.mayReceive)
        #expect(handshake.received(code: .goingAway) == .disconnect)
        #expect(handshake.state == .closed)
    }

    @Test func `A client that has sent Close waits for the server to end the connection`() {
        var handshake = CloseHandshake(role: .client)
        #expect(handshake.close(ClosePayload(code: .normalClosure)) == .send(ClosePayload(code: .normalClosure)))
        #expect(handshake.received(code: .normalClosure) == CloseHandshake.Action.none)
        #expect(handshake.state == .closed)
    }

    @Test func `Closing twice has no effect`() {
        var handshake = CloseHandshake(role: .server)
        #expect(handshake.close(goingAway) == .send(goingAway))
        #expect(handshake.close(ClosePayload(code: .notMember)) == CloseHandshake.Action.none)
        #expect(handshake.received(code: .goingAway) == .disconnect)
        #expect(handshake.close(goingAway) == CloseHandshake.Action.none)
        #expect(handshake.received(code: .goingAway) == CloseHandshake.Action.none)
    }

    @Test(arguments: [Role.server, .client])
    func `A peer that violates the protocol is told why and disconnected`(role: Role) {
        let error = WebSocketError(closeCode: .messageTooBig, reason: "too big")
        var handshake = CloseHandshake(role: role)
        #expect(handshake.failed(error) == .sendAndDisconnect(ClosePayload(code: .messageTooBig, reason: "too big")))
        #expect(handshake.state == .closed)
        #expect(handshake.failed(error) == CloseHandshake.Action.none)
    }

    @Test func `A peer that violates the protocol after our Close frame is just disconnected`() {
        var handshake = CloseHandshake(role: .server)
        _ = handshake.close(goingAway)
        #expect(handshake.failed(WebSocketError(closeCode: .protocolError, reason: "")) == .disconnect)
    }
}
