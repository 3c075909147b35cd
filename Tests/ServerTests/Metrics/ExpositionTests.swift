import CoreMetrics
import Testing

@testable import Server

@Suite struct ExpositionTests {
    private let droppedText = """
        # HELP backscroll_metrics_dropped_series_total Metrics that were refused: too many series, or a name that was \
        taken.
        # TYPE backscroll_metrics_dropped_series_total counter
        backscroll_metrics_dropped_series_total 0

        """

    @Test func `an empty registry reports only its own counter`() {
        #expect(PrometheusRegistry().text == droppedText)
    }

    @Test func `metrics are sorted by name, and series by labels`() {
        let registry = PrometheusRegistry(help: ["c": "Counts\nwith \\ and \"."])
        Counter(label: "c", dimensions: [("m", "b\"")], factory: registry).increment(by: 2)
        Counter(label: "c", dimensions: [("m", "a")], factory: registry).increment()
        Meter(label: "a", factory: registry).set(-0.5)
        let expected = #"""
            # TYPE a gauge
            a -0.5
            ---
            # HELP c Counts\nwith \\ and ".
            # TYPE c counter
            c{m="a"} 1
            c{m="b\""} 2

            """#
        #expect(registry.text == expected.replacing("---\n", with: droppedText))
    }

    @Test func `a recorder is a histogram of powers of two`() {
        let registry = PrometheusRegistry()
        let recorder = Recorder(label: "sizes", factory: registry)
        recorder.record(3)
        recorder.record(100_000)
        let expected = """
            # TYPE sizes histogram
            sizes_bucket{le="1"} 0
            sizes_bucket{le="2"} 0
            sizes_bucket{le="4"} 1
            sizes_bucket{le="8"} 1
            sizes_bucket{le="16"} 1
            sizes_bucket{le="32"} 1
            sizes_bucket{le="64"} 1
            sizes_bucket{le="128"} 1
            sizes_bucket{le="256"} 1
            sizes_bucket{le="512"} 1
            sizes_bucket{le="1024"} 1
            sizes_bucket{le="2048"} 1
            sizes_bucket{le="4096"} 1
            sizes_bucket{le="8192"} 1
            sizes_bucket{le="16384"} 1
            sizes_bucket{le="32768"} 1
            sizes_bucket{le="+Inf"} 2
            sizes_sum 100003
            sizes_count 2

            """
        #expect(registry.text == droppedText + expected)
    }

    @Test func `a timer is a histogram of seconds`() {
        let registry = PrometheusRegistry()
        Timer(label: "t", dimensions: [("of", "x")], factory: registry).recordMilliseconds(2)
        let expected = """
            # TYPE t histogram
            t_bucket{of="x",le="0.0001"} 0
            t_bucket{of="x",le="0.00025"} 0
            t_bucket{of="x",le="0.0005"} 0
            t_bucket{of="x",le="0.001"} 0
            t_bucket{of="x",le="0.0025"} 1
            t_bucket{of="x",le="0.005"} 1
            t_bucket{of="x",le="0.01"} 1
            t_bucket{of="x",le="0.025"} 1
            t_bucket{of="x",le="0.05"} 1
            t_bucket{of="x",le="0.1"} 1
            t_bucket{of="x",le="0.25"} 1
            t_bucket{of="x",le="0.5"} 1
            t_bucket{of="x",le="1"} 1
            t_bucket{of="x",le="2.5"} 1
            t_bucket{of="x",le="5"} 1
            t_bucket{of="x",le="10"} 1
            t_bucket{of="x",le="+Inf"} 1
            t_sum{of="x"} 0.002
            t_count{of="x"} 1

            """
        #expect(registry.text == droppedText + expected)
    }

    @Test(arguments: [
        (0, "0"), (-0.0, "0"), (1, "1"), (-12, "-12"), (0.1, "0.1"), (1e-9, "1e-09"), (1e15, "1000000000000000"),
        (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ])
    func `values are written in the form that Go parses`(value: Double, expected: String) {
        let registry = PrometheusRegistry()
        Meter(label: "x", factory: registry).set(value)
        #expect(registry.samples.last == "x " + expected)
    }

    @Test func `a metric without values is left out with its comments`() {
        let registry = PrometheusRegistry()
        registry.observeGauge("absent", help: "Nothing.") { nil }
        #expect(registry.text == droppedText)
        registry.observeGauge("absent", help: "Nothing.", dimensions: [("of", "x")]) { 1 }
        #expect(registry.text.hasPrefix("# HELP absent Nothing.\n# TYPE absent gauge\nabsent{of=\"x\"} 1\n# HELP"))
    }
}
