import CoreMetrics
import Synchronization
import Testing

@testable import Server

@Suite struct PrometheusRegistryTests {
    private func dropped(_ registry: PrometheusRegistry) -> String? {
        registry.samples.first { $0.hasPrefix(PrometheusRegistry.droppedSeriesName) }
    }

    @Test func `requests for the same metric get the same instance`() {
        let registry = PrometheusRegistry()
        Counter(label: "hits", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "hits", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(registry.samples.contains(#"hits{a="1",b="2"} 2"#))
    }

    @Test func `names that become equal are the same metric`() {
        let registry = PrometheusRegistry()
        Counter(label: "http.hits", factory: registry).increment()
        Counter(label: "http_hits", factory: registry).increment()
        #expect(registry.samples.contains("http_hits 2"))
    }

    @Test func `whole and real amounts of a counter are added up`() {
        let registry = PrometheusRegistry()
        Counter(label: "seconds", factory: registry).increment(by: 2)
        FloatingPointCounter(label: "seconds", factory: registry).increment(by: 0.5)
        #expect(registry.samples.contains("seconds 2.5"))
    }

    @Test func `meters, gauges and non-aggregating recorders are gauges`() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "meter", factory: registry)
        meter.increment(by: 5)
        meter.decrement()
        Gauge(label: "gauge", factory: registry).record(1.5)
        Recorder(label: "recorder", aggregate: false, factory: registry).record(7)
        #expect(registry.samples.filter { !$0.hasPrefix("backscroll") } == ["gauge 1.5", "meter 4", "recorder 7"])
    }

    @Test func `a name of another kind of metric is refused and counted`() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "x", factory: registry)
        Meter(label: "x", factory: registry).set(100)
        Timer(label: "x", dimensions: [("a", "1")], factory: registry).recordNanoseconds(1)
        registry.observeGauge("x", help: "") { 100 }
        counter.increment()
        #expect(registry.samples == [PrometheusRegistry.droppedSeriesName + " 3", "x 1"])
    }

    @Test func `a timer and a recorder cannot share a name, since their buckets differ`() {
        let registry = PrometheusRegistry()
        Timer(label: "x", factory: registry).recordNanoseconds(1)
        Recorder(label: "x", factory: registry).record(1)
        #expect(registry.samples.contains("x_count 1"))
        #expect(dropped(registry)?.hasSuffix(" 1") == true)
    }

    @Test func `the samples of a histogram reserve their names`() {
        let registry = PrometheusRegistry()
        Recorder(label: "x", factory: registry).record(1)
        Counter(label: "x_count", factory: registry).increment(by: 100)
        Counter(label: "y_sum", factory: registry).increment(by: 100)
        Recorder(label: "y", factory: registry).record(1)
        #expect(registry.samples.contains("x_count 1"))
        #expect(registry.samples.filter { $0.hasPrefix("y") } == ["y_sum 100"])
        #expect(dropped(registry)?.hasSuffix(" 2") == true)
    }

    @Test func `there are no more series than allowed, and those refused are counted`() {
        let registry = PrometheusRegistry(maximumSeries: 3)
        for room in 0..<10 {
            Counter(label: "hits", dimensions: [("room", "\(room)")], factory: registry).increment()
        }
        Counter(label: "hits", dimensions: [("room", "0")], factory: registry).increment()
        #expect(
            registry.samples == [
                PrometheusRegistry.droppedSeriesName + " 7", #"hits{room="0"} 2"#, #"hits{room="1"} 1"#,
                #"hits{room="2"} 1"#,
            ])
    }

    @Test func `the default limit holds`() {
        let registry = PrometheusRegistry()
        for index in 0...PrometheusRegistry.defaultMaximumSeries {
            _ = Counter(label: "x", dimensions: [("i", "\(index)")], factory: registry)
        }
        #expect(dropped(registry)?.hasSuffix(" 1") == true)
    }

    @Test func `a destroyed metric makes room for any other`() {
        let registry = PrometheusRegistry(maximumSeries: 1)
        let timer = Timer(label: "x", factory: registry)
        timer.recordNanoseconds(1)
        timer.destroy()
        let counter = Counter(label: "x_sum", factory: registry)
        counter.increment()
        #expect(registry.samples == [PrometheusRegistry.droppedSeriesName + " 0", "x_sum 1"])
        counter.destroy()
        let floatingPointCounter = FloatingPointCounter(label: "f", factory: registry)
        floatingPointCounter.destroy()
        let meter = Meter(label: "m", factory: registry)
        meter.destroy()
        let recorder = Recorder(label: "r", factory: registry)
        recorder.destroy()
        #expect(registry.samples == [PrometheusRegistry.droppedSeriesName + " 0"])
    }

    @Test func `destroying one series leaves the others`() {
        let registry = PrometheusRegistry()
        let one = Counter(label: "x", dimensions: [("a", "1")], factory: registry)
        _ = Counter(label: "x", dimensions: [("a", "2")], factory: registry)
        one.destroy()
        #expect(registry.samples.filter { $0.hasPrefix("x") } == [#"x{a="2"} 0"#])
    }

    @Test func `readings are taken on each exposition, and the latest closure counts`() {
        let registry = PrometheusRegistry(maximumSeries: 1)
        let value = Atomic<Int>(1)
        registry.observeGauge("queue", help: "Old.") { 100 }
        registry.observeGauge("queue", help: "How many wait.") { Double(value.load(ordering: .relaxed)) }
        #expect(registry.samples.last == "queue 1")
        value.store(2, ordering: .relaxed)
        #expect(registry.samples.last == "queue 2")
        #expect(registry.text.contains("# HELP queue How many wait.\n# TYPE queue gauge\n"))
        #expect(dropped(registry)?.hasSuffix(" 0") == true)
    }

    @Test func `a closure may itself request a metric`() {
        let registry = PrometheusRegistry()
        registry.observeCounter("reads", help: "") { [unowned registry] in
            Counter(label: "inner", factory: registry).increment()
            return 1
        }
        #expect(registry.samples.contains("reads 1"))
        #expect(registry.samples.contains("inner 1"))
    }
}
