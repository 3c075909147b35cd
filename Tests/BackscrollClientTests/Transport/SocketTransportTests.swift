import Foundation
import Server
import TestSupport
import Testing
import Transport

@testable import BackscrollClient

@Suite("The transport on Linux", .timeLimit(.minutes(30)))
struct SocketTransportTests {
    private func request(
        _ url: URL, _ target: String, timeout: Duration = .seconds(30), subprotocols: [String] = []
    ) throws -> TransportRequest {
        TransportRequest(
            method: "GET", server: try ServerAddress(url), target: target, fields: [:], body: [],
            subprotocols: subprotocols, timeout: timeout)
    }

    @Test func `returns answers of any status, also on a connection that it has kept`() async throws {
        let server = try ChatServer()
        let transport = SocketTransport()
        for _ in 1...3 {
            let health = try await transport.send(request(server.url, "/healthz"))
            #expect(health.status == 200)
            let missing = try await transport.send(request(server.url, "/v1/rooms/lobby/messages/1"))
            #expect(missing.status == 404)
            #expect(String(decoding: missing.body, as: UTF8.self).contains("message_not_found"))
        }
        // A kept connection that the server has ended is replaced.
        server.stop()
        try server.start()
        #expect(try await transport.send(request(server.url, "/healthz")).status == 200)
    }

    @Test func `says why a server cannot be reached`() async throws {
        let transport = SocketTransport()
        let refused = await #expect(throws: TransportFailure.self) {
            try await transport.send(request(URL(string: "http://127.0.0.1:1")!, "/healthz"))
        }
        #expect(refused?.kind == .unreachable)
        #expect(refused?.detail.contains("Connection refused") == true)
        let unknown = await #expect(throws: TransportFailure.self) {
            try await transport.send(request(URL(string: "http://nowhere.invalid")!, "/healthz"))
        }
        #expect(unknown?.kind == .unreachable)
    }

    @Test func `gives up at the timeout, and at once when the task is cancelled`() async throws {
        let server = try ChatServer()
        let transport = SocketTransport()
        let late = await #expect(throws: TransportFailure.self) {
            try await transport.send(
                request(server.url, "/v1/rooms/lobby?fault=delay=60000", timeout: .milliseconds(50)))
        }
        #expect(late?.kind == .timedOut)
        let task = Task { try await transport.send(request(server.url, "/v1/rooms/lobby?fault=delay=60000")) }
        task.cancel()
        let cancelled = await #expect(throws: TransportFailure.self) { try await task.value }
        #expect(cancelled?.kind == .cancelled)
    }

    @Test func `opens sockets, answers pings and tells the close code`() async throws {
        let server = try ChatServer()
        let transport = SocketTransport()
        let socket = try await transport.connect(
            request(server.url, "/v1/live?user=alice", subprotocols: ["backscroll.v1"]))
        await socket.send(#"{"type":"subscribe","room":"lobby"}"#)
        guard case .text(let text) = try await socket.receive() else { throw Missing() }
        #expect(String(decoding: text, as: UTF8.self).contains("subscribed"))
        await socket.ping()
        server.stop()
        while true {
            guard case .closed(let code, _) = try await socket.receive() else { continue }
            #expect(code == 1001)
            break
        }
        // A ping of a socket that has ended returns.
        await socket.ping()
    }

    @Test func `returns the answer that refuses a socket`() async throws {
        let server = try ChatServer()
        let failure = await #expect(throws: TransportFailure.self) {
            _ = try await SocketTransport().connect(request(server.url, "/v1/nowhere"))
        }
        #expect(failure?.response?.status == 404)
    }

    @Test func `receives no more when its task is cancelled`() async throws {
        let server = try ChatServer()
        let socket = try await SocketTransport().connect(request(server.url, "/v1/live?user=alice"))
        let task = Task { try await socket.receive() }
        task.cancel()
        let failure = await #expect(throws: TransportFailure.self) { _ = try await task.value }
        #expect(failure?.kind == .cancelled)
        await socket.close(code: 1000)
        guard case .closed = try await socket.receive() else { throw Missing() }
    }

    @Test func `ends a socket on which more waits to be written than its bound`() async throws {
        let server = try ChatServer()
        let socket = try await SocketTransport().connect(request(server.url, "/v1/live?user=alice"))
        await socket.send(String(repeating: "x", count: ThreadedSocket.unsentBytes))
        guard case .closed(let code, _) = try await socket.receive() else { throw Missing() }
        // The server got nothing that it could refuse with a code of its own.
        #expect(code == 1006)
    }

    @Test func `does not write a Close frame after a part of another frame`() {
        for space in 0...7 {
            var written: [UInt8] = []
            ThreadedSocket.writeAtOnce([[1, 2, 3, 4], [8, 9]]) { bytes in
                let count = min(bytes.count, 3, space - written.count)
                guard count > 0 else { return .wait(4) }
                written += bytes.prefix(count)
                return .bytes(count)
            }
            #expect(written == Array([1, 2, 3, 4, 8, 9].prefix(space)))
        }
    }

    @Test func `trusts a certificate of the file for its host, and no other`() async throws {
        let certificate = try TestCertificate(name: "localhost")
        let server = try ChatServer {
            $0.tls = TLSConfiguration(certificate: certificate.certificatePath, key: certificate.keyPath)
        }
        let named = URL(string: "https://localhost:\(server.port)")!
        let trusting = SocketTransport(trusting: certificate.certificatePath)
        #expect(try await trusting.send(request(named, "/healthz")).status == 200)
        let socket = try await trusting.connect(request(named, "/v1/live?user=alice"))
        await socket.ping()
        await socket.close(code: 1000)
        let untrusted = await #expect(throws: TransportFailure.self) {
            try await SocketTransport().send(request(named, "/healthz"))
        }
        #expect(untrusted?.detail.contains("self-signed certificate") == true)
        let otherHost = await #expect(throws: TransportFailure.self) {
            try await trusting.send(request(server.url, "/healthz"))
        }
        #expect(otherHost?.detail.contains("IP address mismatch") == true)
        let missing = await #expect(throws: TransportFailure.self) {
            try await SocketTransport(trusting: "/nowhere.pem").send(request(named, "/healthz"))
        }
        #expect(missing?.detail.contains("/nowhere.pem") == true)
    }

    @Test func `reads addresses of servers`() throws {
        let plain = try ServerAddress(URL(string: "http://localhost:8080")!)
        #expect(plain.url("/v1/live", isSocket: true) == "ws://localhost:8080/v1/live")
        let proxied = try ServerAddress(URL(string: "https://example.com/chat/")!)
        #expect(proxied.url("/v1/rooms") == "https://example.com/chat/v1/rooms")
        #expect(proxied.port == 443 && proxied.authority == "example.com")
        #expect(try ServerAddress(URL(string: "http://[::1]:80")!).authority == "[::1]")
        for bad in ["ftp://example.com", "http://alice@example.com", "https://example.com?a=b", "example.com"] {
            #expect(throws: BackscrollClientError.self) { try ServerAddress(URL(string: bad)!) }
        }
    }
}

private struct Missing: Error {}
