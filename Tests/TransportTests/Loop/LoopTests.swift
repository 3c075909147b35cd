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

    @Test("Posted work runs on the loop in order")
    func runsInOrder() throws {
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

    @Test("Delayed work runs at its time and not earlier, also if such work schedules it")
    func runsLater() throws {
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

    @Test("A piece of work has one moment, and the next has another")
    func moments() throws {
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

    @Test("Work posted on the loop runs in its next turn")
    func runsPostedWorkLater() throws {
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

    @Test("A loop that is asked to continue has its next turn at once, and then sleeps")
    func looksAgain() throws {
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

    @Test("Long work is continued in the loop's next turn")
    func sharesTurns() throws {
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

    @Test("Work posted by many threads at once all runs")
    func losesNothing() async throws {
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

    @Test("After stop no work is accepted, and its captures are released")
    func refusesAfterStop() throws {
        let order = Recorder<String>()
        group.loops[0].post { order.record("before") }
        group.stop()
        #expect(!group.loops[0].post { order.record("after") })
        #expect(order.events == ["before"])
        group.stop()
    }

    @Test("Work that posts when it is dropped does not block the stop")
    func dropsWorkThatPosts() throws {
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

    @Test("An actor that has the loop as its executor runs on its thread")
    func runsActors() async throws {
        let loop = loop
        let counter = Counter(on: loop)
        for expected in 1...100 {
            let (count, isOnLoop) = await counter.increment()
            #expect(count == expected)
            #expect(isOnLoop)
        }
    }

    @Test("On the loop, an actor of the loop can be called without a hop")
    func isolatesActors() throws {
        let loop = loop
        let counter = Counter(on: loop)
        #expect(try loop.run { counter.incrementNow() } == 1)
        #expect(try loop.run { counter.incrementNow() } == 2)
        #expect(loop.isIsolatingCurrentContext() == false)
    }

    @Test("A task can prefer the loop as its executor")
    func runsTasks() async throws {
        let loop = loop
        let isOnLoop = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(isOnLoop)
    }

    @Test("The loop's clock never goes backwards")
    func tellsTime() throws {
        let loop = loop
        let times = try (0..<100).map { _ in try loop.run { loop.time } }
        #expect(times == times.sorted())
    }

    @Test("Loop-bound values are accessible on the loop")
    func bindsToLoop() throws {
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

    @Test("Loop-bound values trap elsewhere")
    func trapsElsewhere() async {
        await #expect(processExitsWith: .failure) {
            let group = try LoopGroup(count: 1)
            let bound = LoopBound(1, to: group.loops[0])
            try group.loops[0].run {}
            _ = bound.value
        }
    }
}
