import Chat
import Foundation
import HTTP
import HTTPTypes
import Logging
import Synchronization
import TestSupport
import Testing
import Webhooks
import Wire

@testable import Server

/// An app that answers each question as a test says.
private final class App: Sendable {
    struct Question: Sendable {
        var head: String
        var body: String
        var text: String { (try? JSONDecoder().decode(Body.self, from: Data(body.utf8)).message.text) ?? "" }

        /// Returns the value of a header field.
        func field(_ name: String) -> String? {
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }
            return line.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private struct Body: Decodable {
        struct Message: Decodable { var text: String }
        var message: Message
    }

    /// The treatment of a question by the app.
    enum Action: Sendable {
        case answer(String, status: String = "200 OK")
        /// Close the connection.
        case close
        /// Leave it open until the other side closes it.
        case hold

        static let allow = Action.answer(#"{"allow":true}"#)
    }

    let questions = Recorder<Question>()
    let secret = WebhookSecret()
    let receiver: Receiver
    private let directory: TemporaryDirectory

    init(_ act: @escaping @Sendable (Question) -> Action = { _ in .allow }) throws {
        directory = try TemporaryDirectory()
        try directory.write("\(secret.text)\n", to: "secret")
        receiver = Receiver { [questions] connection in
            while let request = connection.request() {
                let end = request.firstRange(of: "\r\n\r\n")!
                let question = Question(
                    head: String(request[..<end.lowerBound]), body: String(request[end.upperBound...]))
                let action = act(question)
                questions.record(question)
                switch action {
                case .answer(let body, let status):
                    connection.write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                case .close: return
                case .hold: return connection.waitForEnd()
                }
            }
        }
    }

    func configuration(
        _ failure: BeforeSendConfiguration.Failure = .refuse, url: String? = nil
    ) -> BeforeSendConfiguration {
        BeforeSendConfiguration(
            url: url ?? receiver.url("/ask"), secretFile: directory.path(of: "secret"), failure: failure)
    }

    /// Replaces the content of the file with the secrets.
    func write(secrets: String) throws { try directory.write(secrets, to: "secret") }

    var asked: [String] { questions.events.map(\.text) }
}

@Suite("Before a message is stored", .timeLimit(.minutes(30)))
struct BeforeSendTests {
    private func with(
        _ app: App, _ failure: BeforeSendConfiguration.Failure = .refuse, url: String? = nil, logger: Logger = .silent,
        _ body: (LiveServer, HTTPClient) throws -> Void
    ) throws {
        try withServer({ $0.beforeSend = app.configuration(failure, url: url) }, logger: logger) { server in
            try body(server, HTTPClient(port: server.port))
        }
    }

    @Test func `the app is asked, by a signed question`() throws {
        let app = try App()
        try with(app) { _, client in
            let body = #"{"text":"hi","client_message_id":"c1","reply_to":null,"data":{"a": 1},"mentions":["bob"]}"#
            let sent = try client.post(body)
            #expect(sent.status == .created && sent["Location"] == "/v1/rooms/lobby/messages/1")
            let question = try #require(app.questions.events.first)
            #expect(
                question.body
                    == #"{"type":"before_send","room":"lobby","sender":"alice","message":{"text":"hi","client_message_id":"c1","mentions":["bob"],"data":{"a":1}}}"#
            )
            #expect(question.head.hasPrefix("POST /ask HTTP/1.1\r\n"))
            #expect(question.field("Content-Type") == "application/json")
            let id = try #require(question.field("webhook-id"))
            let time = try #require(question.field("webhook-timestamp").flatMap { Int64($0) })
            #expect(
                question.field("webhook-signature")
                    == app.secret.signature(of: Array(question.body.utf8), id: id, timestamp: time))
            try client.send("again")
            #expect(app.questions.events[1].field("webhook-id") != id)
        }
    }

    @Test func `the app may refuse it, with a reason that the sender reads`() throws {
        let app = try App { question in
            .answer(question.text == "bad" ? #"{"allow":false,"detail":"No links, please."}"# : #"{"allow":true}"#)
        }
        try with(app) { _, client in
            let refused = try client.post(#"{"text":"bad"}"#)
            #expect(refused.status == .forbidden)
            #expect(try refused.problem.code == "rejected")
            #expect(refused.text.contains(#""detail":"No links, please.""#))
            try expectEmpty(client)
            #expect(try client.send("good").seq == 1)
            #expect(try client.change(.patch, "1", #"{"text":"bad"}"#).problem.code == "rejected")
            #expect(try client.get("/v1/rooms/lobby/messages/1?user=alice").text.contains(#""text":"good""#))
        }
    }

    @Test func `the app may change it; a repeated send is recognized by what the client has sent, without a question`()
        throws
    {
        let app = try App { question in
            guard question.text == "damn" else { return .allow }
            return .answer(#"{"allow":true,"text":"d***","data":{"by":"app"}}"#)
        }
        try with(app) { server, client in
            let body = #"{"text":"damn","client_message_id":"c1"}"#
            let sent = try client.post(body)
            #expect(sent.status == .created)
            #expect(sent.text.contains(#""text":"d***","data":{"by":"app"}"#))
            for change in ["", #"{"text":"fine"}"#, #"{"text":"damn","data":null}"#] {
                if !change.isEmpty { #expect(try client.change(.patch, "1", change).status == .ok) }
                let count = app.asked.count
                let repeated = try client.post(body)
                let present = try client.get("/v1/rooms/lobby/messages/1?user=alice")
                #expect(repeated.status == .ok && repeated.text == present.text)
                let reused = try client.post(#"{"text":"fine","client_message_id":"c1"}"#)
                #expect(try reused.problem.code == "client_message_id_reused")
                #expect(app.asked.count == count)
            }
            #expect(app.asked == ["damn", "fine", "damn"])
            let edited = try client.get("/v1/rooms/lobby/messages/1?user=alice")
            #expect(edited.text.contains(#""text":"d***","data":{"by":"app"}"#))
            server.stop()
            try server.start()
            let again = try HTTPClient(port: server.port).post(body)
            #expect(again.status == .ok && app.asked.count == 3)
        }
    }

    @Test func `the app is asked about an edit with the content after it`() throws {
        let app = try App()
        try with(app) { _, client in
            _ = try client.post(#"{"text":"hi","client_message_id":"c1","data":{"a":1}}"#)
            let edited = try client.change(.patch, "1", #"{"text":"ho"}"#)
            #expect(edited.status == .ok && edited.text.contains(#""text":"ho","data":{"a":1}"#))
            #expect(
                app.questions.events[1].body
                    == #"{"type":"before_send","room":"lobby","sender":"alice","message":{"text":"ho","client_message_id":"c1","data":{"a":1}},"edits":1}"#
            )
            // Reactions and deletions are not its business, nor is an edit that changes nothing.
            #expect(try client.change(.patch, "1", #"{"text":"ho"}"#).status == .ok)
            #expect(try client.change(.put, "1/reactions/+1").status == .ok)
            #expect(try client.change(.delete, "1").status == .ok)
            #expect(app.asked == ["hi", "ho"])
        }
    }

    @Test func `an allowed edit is stored with all the content that the app has seen`() throws {
        let app = try App()
        try with(app) { _, client in
            let link = #"{"type":"link","url":"https://example.com/a.png"}"#
            _ = try client.post(#"{"text":"hi","client_message_id":"c1","attachments":[\#(link)],"mentions":["bob"]}"#)
            let edited = try client.change(.patch, "1", #"{"attachments":[],"mentions":["carol"]}"#)
            #expect(edited.status == .ok && !edited.text.contains("a.png"))
            #expect(edited.text.contains(#""mentions":["carol"]"#) && edited.text.contains(#""text":"hi""#))
            #expect(app.questions.events.count == 2)
        }
    }

    @Test func `the app is not asked about what is refused anyway`() async throws {
        let app = try App()
        try await withTokenServer(configure: { $0.beforeSend = app.configuration() }) { server in
            let client = try HTTPClient(port: server.port)
            func request(
                _ method: HTTPRequest.Method, _ path: String, _ body: String, by user: String
            ) throws -> Response {
                let token = try TestToken.of(user)
                return try client.request(
                    method, "/v1/rooms/lobby/\(path)", fields: [.bearer(token)], body: Array(body.utf8))
            }
            #expect(try request(.post, "messages", #"{"text":"hi"}"#, by: "alice").status == .created)
            #expect(try request(.put, "bans/mallory", #"{"scope":"send"}"#, by: "alice").status == .created)
            for (method, path, body, user, code) in [
                (HTTPRequest.Method.post, "messages", #"{"text":"spam"}"#, "mallory", "banned"),
                (.post, "messages", #"{"text":""}"#, "bob", "empty_message"),
                (.post, "messages", #"{"text":"x","reply_to":9}"#, "bob", "reply_to_not_found"),
                (.post, "messages", #"{"text":"x","expect_head":9}"#, "bob", "head_moved"),
                (.patch, "messages/1", #"{"text":"x"}"#, "bob", "not_the_sender"),
                (.patch, "messages/2", #"{"text":"x"}"#, "alice", "message_not_found"),
            ] {
                #expect(try request(method, path, body, by: user).problem.code == code)
            }
            #expect(app.asked == ["hi"])
        }
    }

    @Test func `rights are decided again after the answer`() throws {
        let port = Mutex(0)
        let app = try App { question in
            guard question.text == "late" else { return .allow }
            let client = try? HTTPClient(port: port.withLock { $0 })
            _ = try? client?.request(
                .put, "/v1/rooms/lobby/bans/mallory?user=alice", body: Array(#"{"scope":"all"}"#.utf8))
            return .allow
        }
        try with(app) { server, client in
            port.withLock { $0 = server.port }
            try client.send("hi")
            #expect(try client.post(#"{"text":"late"}"#, as: "mallory").problem.code == "banned")
            #expect(app.asked == ["hi", "late"])
        }
    }

    fileprivate static let badActions: [App.Action] = [
        .answer("", status: "500 Oops"), .answer(#"{"allow":true}"#, status: "302 Found"), .answer("OK"),
        .answer("{}"), .answer(#"{"allow":true,"text":""}"#), .answer(#"{"allow":true,"data":[]}"#), .close,
        .answer(#"{"allow":true,"text":"\#(String(repeating: "x", count: Limits.textBytes + 1))"}"#),
        .answer(#"{"allow":true,"more":"\#(String(repeating: "x", count: BeforeSend.maximumAnswer))"}"#), .hold,
    ]

    @Test(arguments: 0..<10)
    func
        `an answer that cannot be used, or none, is a failure: the message is refused, or stored if the operator says so`(
            number: Int
        ) throws
    {
        let app = try App { _ in Self.badActions[number] }
        for failure in BeforeSendConfiguration.Failure.allCases {
            try with(app, failure) { _, client in try expectFailure(client, failure) }
        }
    }

    private func expectEmpty(_ client: HTTPClient) throws {
        #expect(try client.get("/v1/rooms/lobby/messages?user=alice").text.contains(#""messages":[]"#))
    }

    private func expectFailure(_ client: HTTPClient, _ failure: BeforeSendConfiguration.Failure) throws {
        let answer = try client.post(#"{"text":"hi"}"#)
        switch failure {
        case .refuse:
            #expect(answer.status == .serviceUnavailable && answer["Retry-After"] == "1")
            #expect(try answer.problem.code == "unavailable")
            try expectEmpty(client)
        case .allow:
            #expect(answer.status == .created && answer.text.contains(#""text":"hi""#))
        }
    }

    @Test func `an app that is not there is a failure, and the log says so once`() throws {
        let app = try App()
        let lines = Mutex<[String]>([])
        var logger = Logger(label: "test") { _ in LogRecorder { line in lines.withLock { $0.append(line) } } }
        logger.logLevel = .notice
        let port = try ReservedPort()
        for failure in BeforeSendConfiguration.Failure.allCases {
            try with(app, failure, url: "http://127.0.0.1:\(port.number)/", logger: logger) { _, client in
                for _ in 0..<3 { try expectFailure(client, failure) }
            }
        }
        let told = lines.withLock { $0 }.filter { $0.contains("--before-send") }
        #expect(told.count == 2)
        #expect(told[0].contains("messages are refused: ") && told[1].contains("stored as they are: "))
    }

    @Test func `others do not wait for a slow app, nor does a server that stops`() throws {
        let app = try App { $0.text == "slow" ? .hold : .allow }
        try with(app) { server, client in
            let slow = try HTTPClient(port: server.port)
            try slow.write(HTTPClient.bytes(sending: HTTPClient.draft("slow", id: "s")))
            _ = try app.questions.wait { !$0.isEmpty }
            // The same loop serves these.
            try client.send("quick")
            #expect(try client.get("/v1/rooms/lobby/messages?user=alice").status == .ok)
            server.stop()
            try server.start()
            let messages = try HTTPClient(port: server.port).get("/v1/rooms/lobby/messages?user=alice")
            #expect(messages.text.contains("quick") && !messages.text.contains("slow"))
        }
    }

    @Test func `at most 256 questions are under way, and further messages are refused as overload`() throws {
        let app = try App { _ in .hold }
        let configuration = app.configuration()
        let metrics = BeforeSendMetrics(factory: PrometheusRegistry(help: ServerMetricName.help))
        let asking = BeforeSend(
            configuration, secrets: try BeforeSend.secrets(of: configuration), metrics: metrics, logger: .silent)
        let answers = Recorder<Result<Content, Problem>>()
        let content = Content(text: "hi")
        for _ in 0...BeforeSend.maximumQuestions { asking.ask(about: content, []) { answers.record($0) } }
        let first = try answers.wait { !$0.isEmpty }
        #expect(throws: Problem.overloaded) { try first[0].get() }
        asking.close()
        let all = try answers.wait { $0.count == BeforeSend.maximumQuestions + 1 }
        for answer in all.dropFirst() {
            #expect(throws: Problem.unavailable("The server is stopping.")) { try answer.get() }
        }
    }

    @Test func `the metrics count the answers`() throws {
        let app = try App { question in
            switch question.text {
            case "bad": .answer(#"{"allow":false}"#)
            case "odd": .answer(#"{"allow":true,"text":"even"}"#)
            case "lost": .close
            default: .allow
            }
        }
        try with(app) { _, client in
            for text in ["good", "bad", "odd", "lost", "good"] { _ = try client.post(HTTPClient.draft(text)) }
            let metrics = try client.get("/metrics").text
            for (result, count) in [("allowed", 2), ("changed", 1), ("denied", 1), ("failed", 1), ("overloaded", 0)] {
                #expect(metrics.contains("backscroll_before_send_total{result=\"\(result)\"} \(count)\n"))
            }
            #expect(metrics.contains("backscroll_before_send_seconds_count 5\n"))
        }
    }

    @Test func `questions are signed with each secret of the file, which is read again on request`() throws {
        let app = try App()
        try with(app) { server, client in
            let new = WebhookSecret()
            func signature(by secrets: [WebhookSecret]) throws {
                try client.send("hi")
                let question = try #require(app.questions.events.last)
                let id = try #require(question.field("webhook-id"))
                let time = try #require(question.field("webhook-timestamp").flatMap { Int64($0) })
                #expect(
                    question.field("webhook-signature")
                        == secrets.signatures(of: Array(question.body.utf8), id: id, timestamp: time))
            }
            try app.write(secrets: "\(new.text)\n\(app.secret.text)\n")
            server.server.reloadBeforeSendSecrets()
            try signature(by: [new, app.secret])
            try app.write(secrets: "nothing")
            server.server.reloadBeforeSendSecrets()
            try signature(by: [new, app.secret])
        }
    }

    @Test func `a server does not start with a URL or a secret that it cannot use`() throws {
        let app = try App()
        for url in ["ftp://app.example/", "app.example", "http://user@app.example/", "http://"] {
            #expect(throws: ServerError.self) {
                try withServer({ $0.beforeSend = app.configuration(url: url) }) { _ in }
            }
        }
        for secrets in ["", "whsec_x\n", "\(app.secret.text)\nmore\n"] {
            try app.write(secrets: secrets)
            let error = #expect(throws: ServerError.self) {
                try withServer({ $0.beforeSend = app.configuration() }) { _ in }
            }
            #expect(error?.description.contains("--before-send-secret-file") == true)
        }
    }
}

/// A log handler that hands over each line.
private struct LogRecorder: LogHandler {
    let record: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ record: @escaping @Sendable (String) -> Void) { self.record = record }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { record("\(event.message)") }
}
