import Testing

@testable import Server

@Suite struct MetricNameTests {
    @Test(arguments: [
        ("http_requests_total", "http_requests_total"), ("http.requests-total", "http_requests_total"),
        ("job:rate:5m", "job:rate:5m"), ("2xx", "_2xx"), ("", "_"), ("é", "_"), ("a b\n", "a_b_"), ("__x", "__x"),
    ])
    func `a metric's name gets only characters that Prometheus allows`(label: String, expected: String) {
        #expect(MetricName.metric(label) == expected)
    }

    @Test(arguments: [
        ("method", "method"), ("http.method", "http_method"), ("a:b", "a_b"), ("1", "_1"), ("", "_"),
        ("__name__", "_name__"), ("___", "_"), ("_x", "_x"), ("..x", "_x"),
    ])
    func `a label's name gets no colon and no reserved prefix`(name: String, expected: String) {
        #expect(MetricName.label(name) == expected)
    }
}
