import Glibc
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Webhooks

@Suite("The sender", .timeLimit(.minutes(30)))
struct CurlSenderTests {
    private static func configuration(_ allowed: String = "127.0.0.0/8") -> SenderConfiguration {
        var configuration = SenderConfiguration(userAgent: "Backscroll/test")
        configuration.allowsHTTP = true
        configuration.allowed = [IPRange(allowed)!]
        return configuration
    }

    private func post(
        _ url: String, by sender: CurlSender, body: String = "{}", timeout: Duration = .seconds(30)
    ) async -> Result<SenderAnswer, SenderError> {
        await withCheckedContinuation { done in
            sender.post(
                url, headers: [("Content-Type", "application/json"), ("webhook-id", "a1")], body: Array(body.utf8),
                timeout: timeout
            ) { done.resume(returning: $0) }
        }
    }

    /// Posts bodies one after the other, each as soon as the one before is answered. With all tests at once, a test may wait so
    /// long for its turn that an idle connection ends.
    private func post(
        _ url: String, by sender: CurlSender, bodies: [String], onEnd: @escaping @Sendable () -> Void = {}
    ) async throws -> [SenderAnswer] {
        let answers: [Result<SenderAnswer, SenderError>] = await withCheckedContinuation { done in
            @Sendable func next(after answers: [Result<SenderAnswer, SenderError>]) {
                guard answers.count < bodies.count else {
                    onEnd()
                    return done.resume(returning: answers)
                }
                sender.post(
                    url, headers: [("Content-Type", "application/json"), ("webhook-id", "a1")],
                    body: Array(bodies[answers.count].utf8), timeout: .seconds(30)
                ) { next(after: answers + [$0]) }
            }
            next(after: [])
        }
        return try answers.map { try $0.get() }
    }

    @Test func `posts a body with its headers, and uses the connection again`() async throws {
        let connections = Atomic(0)
        let requests = Mutex<[String]>([])
        let receiver = Receiver { connection in
            connections.add(1, ordering: .relaxed)
            while let request = connection.request() {
                requests.withLock { $0.append(request) }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
            }
        }
        let sender = CurlSender(Self.configuration())
        let bodies = ["{\"a\":\"é\"}", "", String(repeating: "x", count: 300_000)]
        let answers = try await post(receiver.url("/hook?x=1"), by: sender, bodies: bodies)
        #expect(answers == Array(repeating: .init(status: 200, body: Array("done".utf8)), count: 3))
        let posted = requests.withLock { $0 }
        try #require(posted.count == 3)
        for (request, body) in zip(posted, bodies) {
            #expect(request.hasPrefix("POST /hook?x=1 HTTP/1.1\r\n"))
            for line in ["User-Agent: Backscroll/test", "Content-Type: application/json", "webhook-id: a1"] {
                #expect(request.contains("\r\n\(line)\r\n"))
            }
            #expect(!request.contains("Expect:"))
            #expect(request.hasSuffix("\r\n\r\n" + body))
        }
        #expect(connections.load(ordering: .relaxed) == 1)
    }

    @Test(arguments: [8, CurlSender.maximumIdle + 8])
    func `keeps the connections of a burst for the next one`(count: Int) async throws {
        let connections = Atomic(0)
        let requests = Recorder<Void>()
        let receiver = Receiver { connection in
            connections.add(1, ordering: .relaxed)
            var burst = 0
            while connection.request() != nil {
                burst += 1
                requests.record(())
                // All requests of a burst are under way before the first one is answered.
                guard (try? requests.wait(for: burst * count)) != nil else { return }
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        let sender = CurlSender(Self.configuration())
        let statuses = Recorder<Int?>()
        @Sendable func post(burst: Int) {
            for _ in 0..<count {
                sender.post(receiver.url(), headers: [], body: [], timeout: .seconds(30)) { result in
                    statuses.record(try? result.get().status)
                    if statuses.events.count == burst * count, burst < 3 { post(burst: burst + 1) }
                }
            }
        }
        post(burst: 1)
        #expect(try statuses.wait(for: 3 * count) == Array(repeating: 204, count: 3 * count))
        #expect(connections.load(ordering: .relaxed) == count)
    }

    @Test(arguments: [false, true])
    func `takes no second answer to a request, sent later, for the answer to the next one`(isEncrypted: Bool)
        async throws
    {
        let certificate = isEncrypted ? try TestCertificate(name: "127.0.0.1") : nil
        let (isRead, isAnsweredTwice) = (Recorder<Void>(), Recorder<Void>())
        let connections = Atomic(0)
        let receiver = Receiver(certificate: certificate) { connection in
            let number = connections.add(1, ordering: .relaxed).newValue
            var count = 0
            while connection.request() != nil {
                count += 1
                connection.write("HTTP/1.1 20\(number) OK\r\nContent-Length: 0\r\n\r\n")
                guard number == 1, count == 2, (try? isRead.wait(for: 1)) != nil else { continue }
                // Its size fills segments. A small one would wait until the answer before it is acknowledged.
                let body = String(repeating: "x", count: 200_000)
                connection.write("HTTP/1.1 500 Late\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                isAnsweredTwice.record(())
            }
        }
        var configuration = Self.configuration()
        configuration.authorities = certificate?.certificatePath
        let sender = CurlSender(configuration)
        let first = try await post(receiver.url(), by: sender, bodies: ["1", "2"]) { isRead.record(()) }
        #expect(first.map(\.status) == [201, 201])
        try isAnsweredTwice.wait(for: 1)
        let next = try await post(receiver.url(), by: sender, bodies: ["3", "4"])
        #expect(next.map(\.status) == [202, 202])
        #expect(connections.load(ordering: .relaxed) == 2)
    }

    @Test func `follows no redirect, and reports Retry-After in seconds`() async throws {
        let receiver = Receiver { connection in
            while let request = connection.request() {
                let path = request.split(separator: " ")[1]
                switch path {
                case "/moved": connection.write("HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n")
                case "/busy": connection.write("HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n")
                default: connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
        }
        let sender = CurlSender(Self.configuration())
        #expect(try await post(receiver.url("/moved"), by: sender).get() == .init(status: 302))
        #expect(try await post(receiver.url("/busy"), by: sender).get() == .init(status: 503, retryAfter: 17))
        #expect(try await post(receiver.url("/ok"), by: sender).get() == .init(status: 204))
    }

    @Test func `reads the first 4 KiB of an answer, of one without end too`() async throws {
        let receiver = Receiver { connection in
            guard connection.request() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            while connection.write(String(repeating: "y", count: 10_000)) {}
        }
        let sender = CurlSender(Self.configuration())
        let answer = try await post(receiver.url(), by: sender).get()
        #expect(
            answer == .init(status: 200, body: Array(repeating: UInt8(ascii: "y"), count: SenderAnswer.maximumBody)))
    }

    @Test func `gives up on headers without end, on what is not HTTP, and on an answer that stops`() async throws {
        let receiver = Receiver { connection in
            guard let request = connection.request() else { return }
            switch request.split(separator: " ")[1] {
            case "/header":
                connection.write("HTTP/1.1 200 OK\r\n")
                while connection.write("X-More: \(String(repeating: "z", count: 1000))\r\n") {}
            case "/garbage": connection.write("SSH-2.0-OpenSSH_9.2\r\n")
            case "/half": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            default: break
            }
        }
        let sender = CurlSender(Self.configuration())
        for path in ["/header", "/garbage", "/half", "/nothing"] {
            let error = await post(receiver.url(path), by: sender).failure
            let text = try #require(error?.description, "\(path)")
            #expect(!text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 32 })
            if path == "/header" { #expect(text == "the header of the answer is longer than 16384 bytes") }
        }
    }

    @Test func `ends a request at its timeout, whatever the receiver drips`() async throws {
        let receiver = Receiver { connection in
            guard connection.request() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n.")
            connection.waitForEnd()
        }
        let sender = CurlSender(Self.configuration())
        let error = await post(receiver.url(), by: sender, timeout: .milliseconds(200)).failure
        #expect(error?.description.contains("timed out") == true)
    }

    @Test(arguments: [
        "127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "0.0.0.0", "10.0.0.1", "172.16.3.4", "192.168.0.1", "169.254.169.254", "100.100.100.200",
        "[fd00:ec2::254]", "[fe80::1]", "224.0.0.1", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "%31%32%37.0.0.1",
        "①②⑦.0.0.1", "127。0。0。1", "0", "017700000001", "0x7f000001", "localhost.", "[::]", "[::127.0.0.1]",
        "[::ffff:0:7f00:1]", "[64:ff9b:1::7f00:1]", "[2001::7f00:1]", "[fe80::1%25lo]", "[fec0::1]", "[ff02::1]",
        "100.64.0.1", "168.63.129.16", "198.18.0.1", "255.255.255.255",
    ])
    func `refuses addresses that are not public, however the URL writes them, before it connects`(host: String)
        async throws
    {
        let receiver = Receiver { connection in
            Issue.record("the receiver was reached")
            connection.waitForEnd()
        }
        let sender = CurlSender(Self.configuration("192.0.2.0/24"))
        let error = await post(receiver.url(host: host), by: sender, timeout: .seconds(5)).failure
        let text = try #require(error?.description)
        // libcurl takes some of them for names, which have no address.
        #expect(
            text.hasSuffix("is not a public address") || text.contains("resolve host") || text.contains("URL"),
            "\(text)")
    }

    @Test func `refuses schemes but https, users in URLs, and http where it is not allowed`() async throws {
        let receiver = Receiver { connection in
            Issue.record("the receiver was reached")
            connection.waitForEnd()
        }
        var configuration = Self.configuration()
        let lax = CurlSender(configuration)
        configuration.allowsHTTP = false
        let strict = CurlSender(configuration)
        #expect(await post(receiver.url(), by: strict).failure != nil)
        for url in [
            "file:///etc/passwd", "gopher://127.0.0.1:\(receiver.port)/", "http://u:p@127.0.0.1:\(receiver.port)/",
            "nonsense:", "",
        ] {
            #expect(await post(url, by: lax).failure != nil, "\(url)")
        }
    }

    @Test func `uses no proxy of the environment, and only the configured one if there is one`() async throws {
        // Other tests read the environment at the same time, so it changes in a process of its own.
        await #expect(processExitsWith: .success) {
            setenv("NO_PROXY", "receiver.invalid", 1)
            let proxy = Receiver { connection in
                while let request = connection.request() {
                    connection.write("HTTP/1.1 299 \(request.split(separator: " ")[1])\r\nContent-Length: 0\r\n\r\n")
                }
            }
            var configuration = CurlSenderTests.configuration("192.0.2.0/24")
            configuration.proxy = proxy.url()
            let sender = CurlSender(configuration)
            let answer = try await CurlSenderTests().post("http://receiver.invalid/hook", by: sender).get()
            #expect(answer.status == 299)
        }
    }

    @Test func `has a thread that gives way to others, if it is told to`() async {
        for niceness: Int32 in [0, 10] {
            let sender = CurlSender(Self.configuration(), niceness: niceness)
            let found = await withCheckedContinuation { done in
                sender.post("nonsense:", headers: [], body: [], timeout: .seconds(30)) { _ in
                    done.resume(returning: getpriority(Int32(PRIO_PROCESS.rawValue), 0))
                }
            }
            #expect(found == niceness)
        }
    }

    @Test func `refuses requests beyond its maximum, and fails all of them when it closes`() async throws {
        let receiver = Receiver { $0.waitForEnd() }
        let sender = CurlSender(Self.configuration())
        let failures = Recorder<String>()
        for _ in 0...CurlSender.maximumTransfers {
            sender.post(receiver.url(), headers: [], body: [], timeout: .seconds(60)) {
                failures.record($0.failure?.description ?? "an answer")
            }
        }
        #expect(try failures.wait(for: 1) == ["512 requests are under way already"])
        sender.close()
        sender.close()
        let all = try failures.wait(for: CurlSender.maximumTransfers + 1)
        #expect(all.dropFirst().allSatisfy { $0 == "the server is stopping" })
        #expect(await post(receiver.url(), by: sender).failure?.description == "the server is stopping")
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
