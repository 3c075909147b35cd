import HTTP
import HTTPTypes
import Logging
import Server
import TestSupport
import Testing
import Tokens

@Suite("Faults")
struct FaultSwitchTests {
    @Test func `are off by default, and requests for them are ignored`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for fault in ["status=503", "lost-answer", "no-such-fault", ""] {
                let response = try client.request(
                    .post, "/v1/rooms/lobby/messages?user=alice&fault=\(fault)",
                    fields: [HTTPField("Backscroll-Fault", "delay=60000")], body: Array(HTTPClient.draft("x").utf8))
                #expect(response.status == .created)
            }
            let live = try LiveFormat.webSocket.subscribe(
                port: server.port, query: "since=0&fault=drop-frame=2,cut-replay=3,new-epoch&fault=delay")
            #expect(try live.frame().room?.head == 4)
            for rev in 1...4 as ClosedRange<Int64> { #expect(try live.message().rev == rev) }
        }
    }

    @Test func `are refused with token keys, and beyond loopback like open mode`() async throws {
        let error = await #expect(throws: ServerError.self) {
            try await withTokenServer(configure: { $0.faults = true }) { _ in }
        }
        #expect(error?.description.contains("--faults") == true)
        let beyond = #expect(throws: ServerError.self) {
            try withServer {
                $0.faults = true
                $0.host = "0.0.0.0"
            } _: { _ in
            }
        }
        #expect(beyond?.description.contains("--insecure-open") == true)
        try withServer {
            $0.faults = true
            $0.host = "0.0.0.0"
            $0.insecureOpen = true
        } _: { server in
            let response = try HTTPClient(port: server.port).get("/healthz?fault=status")
            #expect(response.status == .serviceUnavailable)
        }
    }

    @Test func `cause a warning at the start`() throws {
        let lines = Recorder<String>()
        let logger = Logger(label: "test") { _ in RecordingLogHandler(lines: lines) }
        try withServer({ _ in }, logger: logger) { _ in }
        #expect(!lines.events.contains { $0.contains("FAULTS") })
        try withServer({ $0.faults = true }, logger: logger) { _ in }
        #expect(lines.events.contains { $0.hasPrefix("warning: FAULTS ARE ON") })
    }

    @Test func `can be requested by allowed pages, and preflight requests are not affected`() throws {
        for isOn in [true, false] {
            try withServer {
                $0.faults = isOn
                $0.allowedOrigins = ["https://app.example"]
            } _: { server in
                let response = try HTTPClient(port: server.port).request(
                    .options, "/v1/rooms/lobby/messages?fault=status,lost-answer",
                    fields: [
                        HTTPField("Origin", "https://app.example"), HTTPField("Access-Control-Request-Method", "POST"),
                    ])
                #expect(response.status == .noContent)
                #expect(response["Access-Control-Allow-Headers"]?.contains("Backscroll-Fault") == isOn)
            }
        }
    }
}

/// Records the lines that a server logs.
private struct RecordingLogHandler: LogHandler {
    let lines: Recorder<String>
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(lines: Recorder<String>) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.record("\(event.level): \(event.message)")
    }
}
