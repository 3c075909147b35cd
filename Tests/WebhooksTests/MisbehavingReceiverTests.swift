import Synchronization
import TestSupport
import Testing
import Transport

@testable import Webhooks

/// An answer of a receiver, and the outcomes for the sender that are right.
struct Misbehavior: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Hashable {
        /// An answer with this status, body and `Retry-After`.
        case status(Int, body: String = "", retryAfter: Int? = nil)
        /// No answer.
        case none
    }

    /// The receiver's conduct after its answer.
    enum End: Sendable {
        case waits
        case closes
        case resets
    }

    var name: String
    var answer: String
    var end: End
    var outcomes: [Outcome]

    var testDescription: String { name }

    init(_ name: String, _ answer: String, then end: End = .waits, _ outcomes: Outcome...) {
        (self.name, self.answer, self.end, self.outcomes) = (name, answer, end, outcomes)
    }
}

@Suite("The sender, with receivers that misbehave", .timeLimit(.minutes(30)))
struct MisbehavingReceiverTests {
    private static func configuration(_ certificate: TestCertificate? = nil) -> SenderConfiguration {
        var configuration = SenderConfiguration(userAgent: "Backscroll/test")
        configuration.allowsHTTP = true
        configuration.allowed = [IPRange("127.0.0.0/8")!]
        configuration.authorities = certificate?.certificatePath
        return configuration
    }

    private func post(_ url: String, by sender: CurlSender, timeout: Duration = .seconds(30)) async
        -> Misbehavior.Outcome
    {
        await withCheckedContinuation { done in
            sender.post(url, headers: [], body: Array("{}".utf8), timeout: timeout) { result in
                switch result {
                case .success(let answer):
                    let body = String(decoding: answer.body, as: UTF8.self)
                    done.resume(returning: .status(answer.status, body: body, retryAfter: answer.retryAfter))
                case .failure: done.resume(returning: .none)
                }
            }
        }
    }

    private static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"

    private static let misbehaviors: [Misbehavior] = [
        // Versions of HTTP, and interim answers (RFC 9110, section 15.2).
        .init("HTTP/1.0", "HTTP/1.0 204 No Content\r\n\r\n", then: .closes, .status(204)),
        .init(
            "HTTP/1.0, with a body up to the end", "HTTP/1.0 200 OK\r\n\r\nbody", then: .closes,
            .status(200, body: "body")),
        .init("100 before the answer", "HTTP/1.1 100 Continue\r\n\r\n" + noContent, .status(204)),
        .init(
            "103 before the answer", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" + noContent,
            .status(204)),
        .init(
            "many interim answers", String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 50) + noContent,
            .status(204)),
        .init("an interim answer and no other", "HTTP/1.1 103 Early Hints\r\n\r\n", then: .closes, .none),
        .init("a status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", .none),
        .init("a status beyond all classes", "HTTP/1.1 999 ?\r\nContent-Length: 0\r\n\r\n", .status(999)),
        .init("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", then: .closes, .none),
        .init("nothing", "", then: .closes, .none),
        .init("nothing, with a reset", "", then: .resets, .none),
        .init("an empty line", "\r\n\r\n", then: .closes, .none),

        // The length of the body (RFC 9112, section 6).
        .init(
            "a body that is too long", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger", .status(200, body: "lo")),
        .init("a body that is too short", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", then: .closes, .none),
        .init("a body that is reset", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", then: .resets, .none),
        .init("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody", then: .closes, .none),
        .init(
            "a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nbody", then: .closes, .none),
        .init(
            "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nbody",
            .status(200, body: "body")),
        .init("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", .status(204)),
        .init("304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", .status(304)),
        .init(
            "a body up to a reset", "HTTP/1.1 200 OK\r\n\r\nbody", then: .resets, .none),

        // Transfer codings (RFC 9112, section 7).
        .init(
            "trailers",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX: y\r\nRetry-After: 9\r\n\r\n",
            .status(200, body: "body")),
        .init(
            "chunks without sizes", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nbody\r\n0\r\n\r\n",
            .none),
        .init(
            "a chunk whose size overflows",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nbody\r\n0\r\n\r\n", .none),
        .init(
            "chunks without an end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
            then: .closes, .none),
        .init(
            "a chunk that is longer than its size",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbody\r\n0\r\n\r\n", .none),
        .init(
            "a compressed body", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody",
            .status(200, body: "body")),

        // The header.
        .init("a line of a megabyte", "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 1 << 20))\r\n\r\n", .none),
        .init("ten thousand lines", "HTTP/1.1 200 OK\r\n\(String(repeating: "X: y\r\n", count: 10_000))\r\n", .none),
        .init("half a header", "HTTP/1.1 200 OK\r\nContent-Le", then: .closes, .none),
        .init("half a header, with a reset", "HTTP/1.1 200 OK\r\nContent-Le", then: .resets, .none),

        // Retry-After (RFC 9110, section 10.2.3).
        .init("Retry-After in seconds", unavailable("7"), .status(503, retryAfter: 7)),
        .init("Retry-After that is long ago", unavailable("Thu, 01 Jan 1970 00:00:00 GMT"), .status(503)),
        .init("Retry-After that is no time", unavailable("soon"), .status(503)),
        .init("Retry-After that is negative", unavailable("-7"), .status(503)),
    ]

    private static func unavailable(_ retryAfter: String) -> String {
        "HTTP/1.1 503 Busy\r\nRetry-After: \(retryAfter)\r\nContent-Length: 0\r\n\r\n"
    }

    /// Expects an outcome of an answer, and that the next request gets its own answer, twice on the same sender.
    private func expectOutcome(of misbehavior: Misbehavior, certificate: TestCertificate? = nil) async {
        let receiver = Receiver(certificate: certificate) { connection in
            while let request = connection.request() {
                if request.hasPrefix("POST /next ") {
                    connection.write("HTTP/1.1 234 Next\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                connection.write(misbehavior.answer)
                switch misbehavior.end {
                case .waits: continue
                case .closes: return
                case .resets: return connection.endsWithReset()
                }
            }
        }
        let sender = CurlSender(Self.configuration(certificate))
        for _ in 1...2 {
            let outcome = await post(receiver.url(), by: sender)
            #expect(misbehavior.outcomes.contains(outcome))
            #expect(await post(receiver.url("/next"), by: sender) == .status(234))
        }
    }

    @Test(arguments: misbehaviors)
    func `takes an answer for what it is, and the next one for its own`(_ misbehavior: Misbehavior) async {
        await expectOutcome(of: misbehavior)
    }

    @Test func `takes a date and a number without bound as Retry-After`() async {
        let receiver = Receiver { connection in
            while let request = connection.request() {
                let isDate = request.hasPrefix("POST /date ")
                connection.write(Self.unavailable(isDate ? "Fri, 31 Dec 2099 23:59:59 GMT" : "99999999999999999999999"))
            }
        }
        let sender = CurlSender(Self.configuration())
        guard case .status(503, body: "", let date?) = await post(receiver.url("/date"), by: sender) else {
            Issue.record("the date is not understood")
            return
        }
        #expect(date > RetryDelay.maximumSeconds)
        guard case .status(503, body: "", let seconds) = await post(receiver.url("/number"), by: sender) else {
            Issue.record("there is no answer")
            return
        }
        let longest = Duration.seconds(RetryDelay.maximumSeconds)
        #expect(RetryDelay.after(failures: 1, retryAfter: seconds, share: 0) <= longest)
        #expect(RetryDelay.after(failures: 1, retryAfter: date, share: 0) == longest)
    }

    @Test func `answers others while a receiver ends neither its handshake nor its header`() async throws {
        let silent = Receiver { $0.waitForEnd() }
        let endless = Receiver { connection in
            guard connection.request() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n")
            connection.waitForEnd()
        }
        let other = Receiver { connection in
            while connection.request() != nil { connection.write(Self.noContent) }
        }
        let sender = CurlSender(Self.configuration())
        let ended = Recorder<String>()
        for url in ["https://127.0.0.1:\(silent.port)/", silent.url(), endless.url()] {
            sender.post(url, headers: [], body: [], timeout: .seconds(3600)) {
                if case .failure(let error) = $0 { ended.record(error.description) }
            }
        }
        for _ in 1...20 { #expect(await post(other.url(), by: sender) == .status(204)) }
        #expect(ended.events == [])
        #expect(await post("https://127.0.0.1:\(silent.port)/", by: sender, timeout: .milliseconds(200)) == .none)
        sender.close()
        #expect(try ended.wait(for: 3) == Array(repeating: "the server is stopping", count: 3))
    }

    // MARK: TLS

    @Test func `sends nothing to a receiver with the certificate of another name, or of an unknown authority`()
        async throws
    {
        let (good, other) = (try TestCertificate(name: "127.0.0.1"), try TestCertificate(name: "other.example"))
        for (certificate, authority) in [(other, other), (good, other)] {
            let receiver = Receiver(certificate: certificate) { connection in
                if connection.request() != nil { Issue.record("the receiver got a request") }
            }
            let sender = CurlSender(Self.configuration(authority))
            #expect(await post(receiver.url(), by: sender) == .none)
        }
        let receiver = Receiver(certificate: good) { connection in
            while connection.request() != nil { connection.write(Self.noContent) }
        }
        #expect(await post(receiver.url(), by: CurlSender(Self.configuration(good))) == .status(204))
    }

    @Test(arguments: [
        Misbehavior("a body that is cut", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", then: .closes, .none),
        Misbehavior("a body that is reset", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", then: .resets, .none),
        // Without the close_notify of TLS the end may be anybody's. libcurl chooses: since 8.14.1 there is no answer.
        Misbehavior(
            "a body up to a cut", "HTTP/1.1 200 OK\r\n\r\nshort", then: .closes, .status(200, body: "short"), .none),
        Misbehavior("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", .status(204)),
        Misbehavior("half a header", "HTTP/1.1 200 OK\r\nContent-Le", then: .closes, .none),
    ])
    func `takes an answer over TLS for what it is, and the next one for its own`(_ misbehavior: Misbehavior)
        async throws
    {
        await expectOutcome(of: misbehavior, certificate: try TestCertificate(name: "127.0.0.1"))
    }

    // MARK: HTTP/2

    /// A frame that a receiver sends later, after two answers.
    enum Late: Sendable, CaseIterable {
        /// A second answer to the request that was answered last.
        case answer
        /// A frame that asks for an answer of this side.
        case ping
    }

    @Test(arguments: Late.allCases)
    func `takes no second answer over HTTP/2 for that to the next request, and uses the connection again`(_ late: Late)
        async throws
    {
        let certificate = try TestCertificate(name: "127.0.0.1")
        let (isRead, isSent) = (Recorder<Void>(), Recorder<Void>())
        let connections = Atomic(0)
        let receiver = Receiver(certificate: certificate, isHTTP2: true) { connection in
            let number = connections.add(1, ordering: .relaxed).newValue
            var frames = FrameReader()
            // The settings, which are the defaults.
            connection.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            var count = 0
            while let frame = frames.next(from: connection) {
                if frame.type == 4, !frame.isEnd { connection.write([0, 0, 0, 4, 1, 0, 0, 0, 0]) }
                guard frame.type <= 1, frame.isEnd else { continue }
                count += 1
                connection.write(frame.answer(0x89))
                guard number == 1, count == 2, (try? isRead.wait(for: 1)) != nil else { continue }
                switch late {
                case .answer: connection.write(frame.answer(0x8E))
                case .ping: connection.write([0, 0, 8, 6, 0, 0, 0, 0, 0] + Array("12345678".utf8))
                }
                isSent.record(())
            }
        }
        let sender = CurlSender(Self.configuration(certificate))
        // On the sender's thread: a test may wait so long for its turn that an idle connection ends.
        let statuses = Recorder<Int?>()
        @Sendable func next() {
            sender.post(receiver.url(), headers: [], body: [], timeout: .seconds(30)) { result in
                statuses.record(try? result.get().status)
                let count = statuses.events.count
                if count == 2 {
                    isRead.record(())
                    _ = try? isSent.wait(for: 1)
                }
                if count < 4 { next() }
            }
        }
        next()
        #expect(try statuses.wait(for: 4) == Array(repeating: 204, count: 4))
        // libcurl may end a connection with an answer to nothing.
        let most = late == .ping ? 1 : 2
        #expect(connections.load(ordering: .relaxed) <= most)
    }
}

/// The frames that a client sends (RFC 9113, section 4.1).
private struct FrameReader {
    struct Frame {
        let type: UInt8
        /// True for the end of a stream, and for the acknowledgement of settings.
        let isEnd: Bool
        let stream: ArraySlice<UInt8>

        /// Returns the whole answer to a request: a status by its index (RFC 7541, appendix A), without a body.
        func answer(_ status: UInt8) -> [UInt8] { [0, 0, 1, 1, 5] + stream + [status] }
    }

    private var bytes: [UInt8] = []
    private var hasPreface = false

    /// Returns the next frame; `nil` at the end of the connection.
    mutating func next(from connection: borrowing Receiver.Connection) -> Frame? {
        if !hasPreface {
            // "PRI * HTTP/2.0" and its continuation.
            guard take(24, from: connection) != nil else { return nil }
            hasPreface = true
        }
        guard let head = take(9, from: connection) else { return nil }
        let size = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        guard take(size, from: connection) != nil else { return nil }
        return Frame(type: head[3], isEnd: head[4] & 1 == 1, stream: head[5...])
    }

    private mutating func take(_ count: Int, from connection: borrowing Receiver.Connection) -> [UInt8]? {
        while bytes.count < count {
            var chunk = [UInt8](repeating: 0, count: 16 * 1024)
            let read = connection.read(into: &chunk)
            guard read > 0 else { return nil }
            bytes += chunk[..<read]
        }
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }
}
