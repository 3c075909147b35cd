import Synchronization
import TestSupport
import Testing

@testable import Transport

@Suite("A loop")
final class LoopTests {
    private let group: LoopGroup
    private var loop: Loop { group.loops[0] }

    init() throws {
        group = try LoopGroup(count: 1)
    }

    deinit {
        group.stop()
    }

    @Test func `Posted work runs on the loop in order`() throws {
        let loop = loop
        let order = Recorder<Int>()
        for number in 0..<1000 {
            loop.post {
                #expect(loop.isCurrent)
                order.record(number)
            }
        }
        #expect(try order.wait(for: 1000) == Array(0..<1000))
        #expect(!loop.isCurrent)
    }

    @Test func `Delayed work runs at its time and not earlier, also if such work schedules it`() throws {
        let loop = loop
        let order = Recorder<String>()
        loop.post {
            let start = ContinuousClock.now
            loop.after(.milliseconds(450)) {
                order.record("third")
                loop.after(.milliseconds(100)) {
                    #expect(ContinuousClock.now - start >= .milliseconds(545))
                    order.record("fourth")
                }
            }
            loop.after(.milliseconds(150)) { order.record("second") }
            loop.after(.zero) { order.record("first") }
        }
        try order.wait(for: "fourth")
        #expect(order.events == ["first", "second", "third", "fourth"])
    }

    @Test func `A piece of work has one moment, and the next has another`() throws {
        let loop = loop
        let moments = Recorder<Int64>()
        @Sendable func passTime() {
            let start = ContinuousClock.now
            while ContinuousClock.now == start {}
        }
        for isReadAgain in [false, true] {
            loop.post {
                moments.record(loop.moment)
                passTime()
                if isReadAgain { loop.readClock() }
                moments.record(loop.moment)
                passTime()
            }
        }
        let read = try moments.wait(for: 4)
        #expect(read[0] == read[1] && read[1] < read[2] && read[2] < read[3])
    }

    @Test func `Work posted on the loop runs in its next turn`() throws {
        let loop = loop
        let order = Recorder<String>()
        loop.post {
            loop.atEndOfTurn { order.record("end of turn") }
            loop.post { order.record("posted") }
            order.record("posting")
        }
        try order.wait(for: "posted")
        #expect(order.events.prefix(3) == ["posting", "end of turn", "posted"])
    }

    @Test func `A loop that is asked to continue has its next turn at once, and then sleeps`() throws {
        let loop = loop
        let order = Recorder<String>()
        loop.post {
            var looks = 0
            loop.atEndOfTurn {
                order.record("end of turn")
                looks += 1
                if looks <= 3 { loop.lookAgain() }
            }
            loop.after(.milliseconds(300)) { order.record("later") }
        }
        try order.wait(for: "later")
        #expect(order.events.prefix(4) == ["end of turn", "end of turn", "end of turn", "end of turn"])
        // Its timer ticks every 100 ms. Without sleep it would make thousands of turns.
        #expect(order.events.count < 50)
    }

    @Test func `Long work is continued in the loop's next turn`() throws {
        let loop = loop
        let order = Recorder<String>()
        loop.post {
            loop.atEndOfTurn { order.record("end of turn") }
            loop.post {
                let end = ContinuousClock.now + Loop.workSlice
                while ContinuousClock.now < end {}
                order.record("long")
            }
            loop.post { order.record("short") }
        }
        try order.wait(for: "short")
        #expect(order.events.prefix(4) == ["end of turn", "long", "end of turn", "short"])
    }

    @Test func `Work posted by many threads at once all runs`() async throws {
        let loop = loop
        let count = Recorder<Int>()
        await withTaskGroup(of: Void.self) { tasks in
            for task in 0..<8 {
                tasks.addTask {
                    for number in 0..<500 { loop.post { count.record(task * 500 + number) } }
                }
            }
        }
        let events = try count.wait(for: 4000)
        #expect(events.sorted() == Array(0..<4000))
        for task in 0..<8 {
            let own = events.filter { $0 / 500 == task }
            #expect(own == own.sorted(), "each thread's own work stays in order")
        }
    }

    @Test func `After stop no work is accepted, and its captures are released`() throws {
        let order = Recorder<String>()
        group.loops[0].post { order.record("before") }
        group.stop()
        #expect(!group.loops[0].post { order.record("after") })
        #expect(order.events == ["before"])
        group.stop()
    }

    @Test func `Work that posts when it is dropped does not block the stop`() throws {
        final class Poster: Sendable {
            let loop: Loop
            init(_ loop: Loop) { self.loop = loop }
            deinit { loop.post {} }
        }
        let loop = loop
        loop.post { [poster = Poster(loop)] in
            loop.stop()
            loop.post { _ = poster }
        }
        loop.join()
    }

    private actor Counter {
        nonisolated let loop: Loop
        private var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(on loop: Loop) {
            self.loop = loop
        }

        func increment() -> (count: Int, isOnLoop: Bool) {
            count += 1
            return (count, loop.isCurrent)
        }

        nonisolated func incrementNow() -> Int {
            assumeIsolated { counter in
                counter.count += 1
                return counter.count
            }
        }
    }

    @Test func `An actor that has the loop as its executor runs on its thread`() async throws {
        let loop = loop
        let counter = Counter(on: loop)
        for expected in 1...100 {
            let (count, isOnLoop) = await counter.increment()
            #expect(count == expected)
            #expect(isOnLoop)
        }
    }

    @Test func `On the loop, an actor of the loop can be called without a hop`() throws {
        let loop = loop
        let counter = Counter(on: loop)
        #expect(try loop.run { counter.incrementNow() } == 1)
        #expect(try loop.run { counter.incrementNow() } == 2)
        #expect(loop.isIsolatingCurrentContext() == false)
    }

    @Test func `A task can prefer the loop as its executor`() async throws {
        let loop = loop
        let isOnLoop = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(isOnLoop)
    }

    @Test func `The loop's clock never goes backwards`() throws {
        let loop = loop
        let times = try (0..<100).map { _ in try loop.run { loop.time } }
        #expect(times == times.sorted())
    }

    @Test func `Loop-bound values are accessible on the loop`() throws {
        final class Feed {
            var name = "general"
        }
        let loop = loop
        let bound = LoopBound(Feed(), to: loop)
        try loop.run { bound.value.name += "!" }
        #expect(try loop.run { bound.value.name } == "general!")
        let own = try loop.run {
            let feed = Feed()
            feed.name = "random"
            return LoopBound(feed, of: loop)
        }
        #expect(try loop.run { own.value.name } == "random")
    }

    @Test func `Loop-bound values trap elsewhere`() async {
        await #expect(processExitsWith: .failure) {
            let group = try LoopGroup(count: 1)
            let bound = LoopBound(1, to: group.loops[0])
            try group.loops[0].run {}
            _ = bound.value
        }
    }
}
