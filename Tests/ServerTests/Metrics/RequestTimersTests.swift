import HTTPTypes
import Testing

@testable import Server

@Suite("The durations of requests")
struct RequestTimersTests {
    private let registry = PrometheusRegistry(help: ServerMetricName.help)

    @Test func `are counted by route, method and class of status`() {
        var (first, second) = (RequestTimers(factory: registry), RequestTimers(factory: registry))
        let messages = Resource.find(["v1", "rooms", "lobby", "messages"])
        first.count(.post, messages, status: 201, nanoseconds: 1_500_000)
        second.count(.post, messages, status: 200, nanoseconds: 300_000)
        second.count(.get, messages, status: 404, nanoseconds: 20_000_000_000)
        let name = "backscroll_http_request_seconds"
        let sends = #"method="POST",route="/v1/rooms/{room}/messages",status="2xx""#
        #expect(registry.samples.contains("\(name)_bucket{\(sends),le=\"0.001\"} 1"))
        #expect(registry.samples.contains("\(name)_bucket{\(sends),le=\"0.0025\"} 2"))
        #expect(registry.samples.contains("\(name)_sum{\(sends)} 0.0018"))
        let reads = #"method="GET",route="/v1/rooms/{room}/messages",status="4xx""#
        #expect(registry.samples.contains("\(name)_bucket{\(reads),le=\"10\"} 0"))
        #expect(registry.samples.contains("\(name)_count{\(reads)} 1"))
    }

    @Test func `have no more series than routes have methods, whatever clients request`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for path in ["/x", "/y", "/v1/rooms/a/nothing"] { _ = try client.get(path) }
            for method in ["BREW", "PROPFIND", "PURGE"] {
                _ = try client.request(.init(method)!, "/v1/rooms/lobby/messages")
            }
            for room in ["a", "b"] { _ = try client.get("/v1/rooms/\(room)/messages") }
            let name = "backscroll_http_request_seconds_count"
            let counts = try client.get("/metrics").text.split(separator: "\n").filter { $0.hasPrefix(name) }
            #expect(
                counts == [
                    #"\#(name){method="GET",route="/v1/rooms/{room}/messages",status="2xx"} 2"#,
                    #"\#(name){method="GET",route="other",status="4xx"} 3"#,
                    #"\#(name){method="other",route="other",status="4xx"} 3"#,
                ])
        }
    }
}
