import CoreMetrics
import Store
import Testing
import Wire

@testable import Server

@Suite struct ServerMetricsTests {
    private let registry = PrometheusRegistry(help: ServerMetricName.help)
    private let metrics: ServerMetrics
    // The registry asks it for the values.
    private let webhooks: WebhookMetrics
    private let beforeSend: BeforeSendMetrics

    init() {
        metrics = ServerMetrics(factory: registry)
        registry.observe(.connectionsRefused) { 0 }
        registry.observe(.roomsRefused) { 0 }
        NodeMetrics(factory: registry).observe({ NodeCounts() }, in: registry)
        webhooks = WebhookMetrics(factory: registry, registry: registry)
        webhooks.set(WebhookMetrics.State(), of: "crm")
        _ = webhooks.attempts("crm", "ok")
        _ = webhooks.recipients("crm", "push")
        beforeSend = BeforeSendMetrics(factory: registry)
    }

    @Test func `every metric exists from the start, with a help text and no value`() {
        let gauges: [ServerMetricName] = [
            .connections, .feeds, .pendingBytes, .unsentBytes, .queuedSends, .queuedReads, .roomsQuarantined,
            .roomNumbers, .buildInfo, .ready, .databaseBytes, .logBytes, .freeBytes, .lastBackup,
        ]
        for name in gauges {
            registry.observe(name) { 0 }
        }
        // The durations of requests appear with the requests.
        for name in ServerMetricName.allCases where name != .requestSeconds {
            #expect(registry.text.contains("# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) "))
        }
        #expect(registry.samples.allSatisfy { $0.hasSuffix(" 0") })
    }

    @Test func `names follow Prometheus' conventions`() {
        for name in ServerMetricName.allCases {
            #expect(name.rawValue == MetricName.metric(name.rawValue))
            #expect(name.rawValue.hasPrefix("backscroll_"))
            let isCounter = registry.text.contains("# TYPE \(name.rawValue) counter\n")
            #expect(name.rawValue.hasSuffix("_total") == isCounter)
            #expect(name.help.hasSuffix("."))
        }
    }

    @Test func `requests are counted by method and class of status`() {
        metrics.httpRequests.count(.get, status: 200)
        metrics.httpRequests.count(.get, status: 299)
        metrics.httpRequests.count(.get, status: 101)
        metrics.httpRequests.count(.post, status: 503)
        metrics.httpRequests.count(.other, status: 405)
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="GET",status="2xx"} 2"#))
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="GET",status="1xx"} 1"#))
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="POST",status="5xx"} 1"#))
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="other",status="4xx"} 1"#))
    }

    @Test(arguments: RequestCounters.Method.allCases, 1...5)
    func `each method and class of status has a counter of its own`(
        method: RequestCounters.Method, statusClass: Int
    ) {
        metrics.httpRequests.count(method, status: statusClass * 100)
        let series = #"backscroll_http_requests_total{method="\#(method.label)",status="\#(statusClass)xx"}"#
        #expect(registry.samples.filter { $0.hasSuffix(" 1") } == [series + " 1"])
    }

    @Test func `an unknown status counts in the nearest class`() {
        metrics.httpRequests.count(.put, status: -1)
        metrics.httpRequests.count(.put, status: 600)
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="PUT",status="1xx"} 1"#))
        #expect(registry.samples.contains(#"backscroll_http_requests_total{method="PUT",status="5xx"} 1"#))
    }

    @Test func `methods are recognized by name`() {
        for method in RequestCounters.Method.allCases where method != .other {
            #expect(RequestCounters.Method(method.label) == method)
        }
        #expect(RequestCounters.Method("BREW") == .other)
        #expect(RequestCounters.Method("get") == .other)
    }

    @Test func `refusals are counted by code`() {
        metrics.refusals.count(.rateLimited)
        #expect(registry.samples.contains(#"backscroll_refusals_total{code="rate_limited"} 1"#))
        #expect(registry.samples.contains(#"backscroll_refusals_total{code="overloaded"} 0"#))
    }

    @Test func `no close code of a client adds a series`() {
        let before = registry.samples.count
        metrics.webSocketCloses.count(1000)
        metrics.webSocketCloses.count(4408)
        for code in 3000..<3100 { metrics.webSocketCloses.count(UInt16(code)) }
        #expect(registry.samples.count == before)
        #expect(registry.samples.contains(#"backscroll_websocket_closes_total{code="1000"} 1"#))
        #expect(registry.samples.contains(#"backscroll_websocket_closes_total{code="4408"} 1"#))
        #expect(registry.samples.contains(#"backscroll_websocket_closes_total{code="other"} 100"#))
    }

    @Test func `a commit is counted, timed and measured`() {
        metrics.commits.increment()
        metrics.commitSeconds.recordNanoseconds(1_500_000)
        metrics.commitMessages.record(64)
        metrics.messagesStored.increment(by: 64)
        metrics.subscribers.increment()
        #expect(registry.samples.contains("backscroll_commits_total 1"))
        #expect(registry.samples.contains("backscroll_commit_seconds_sum 0.0015"))
        #expect(registry.samples.contains(#"backscroll_commit_messages_bucket{le="32"} 0"#))
        #expect(registry.samples.contains(#"backscroll_commit_messages_bucket{le="64"} 1"#))
        #expect(registry.samples.contains("backscroll_messages_stored_total 64"))
        #expect(registry.samples.contains("backscroll_subscribers 1"))
    }

    @Test func `creating them twice gives the same metrics`() {
        ServerMetrics(factory: registry).replays.increment()
        metrics.replays.increment()
        #expect(registry.samples.contains("backscroll_replays_total 2"))
    }
}
