import Testing
import WebSocket

@Suite("Pings and their answers, RFC 6455 §5.5.2")
struct HeartbeatTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    @Test func `A ping is due every 30 s`() {
        var heartbeat = Heartbeat(start: start)
        #expect(Heartbeat.defaultInterval == .seconds(30))
        for due in [30, 60, 90, 120] {
            #expect(heartbeat.nextTick == at(due))
            #expect(heartbeat.tick(at: at(due) - .nanoseconds(1)) == Heartbeat.Action.none)
            #expect(heartbeat.tick(at: at(due)) == .sendPing)
            heartbeat.received()
        }
    }

    @Test func `After two unanswered pings the peer counts as lost for good`() {
        var heartbeat = Heartbeat(start: start)
        #expect(heartbeat.tick(at: at(30)) == .sendPing)
        #expect(heartbeat.tick(at: at(60)) == .sendPing)
        #expect(heartbeat.unanswered == Heartbeat.maxUnanswered)
        #expect(heartbeat.tick(at: at(89)) == Heartbeat.Action.none)
        #expect(heartbeat.tick(at: at(90)) == .dead)
        #expect(heartbeat.tick(at: at(91)) == .dead)
    }

    @Test func `Any frame in time keeps the connection`() {
        var heartbeat = Heartbeat(start: start)
        _ = heartbeat.tick(at: at(30))
        _ = heartbeat.tick(at: at(60))
        heartbeat.received()
        #expect(heartbeat.tick(at: at(90)) == .sendPing)
        #expect(heartbeat.unanswered == 1)
    }

    @Test func `A late tick counts once`() {
        var heartbeat = Heartbeat(start: start)
        #expect(heartbeat.tick(at: at(600)) == .sendPing)
        #expect(heartbeat.tick(at: at(601)) == Heartbeat.Action.none)
        #expect(heartbeat.nextTick == at(630))
    }

    @Test func `A ping that could not be sent does not count as unanswered`() {
        var heartbeat = Heartbeat(start: start)
        #expect(heartbeat.tick(at: at(30)) == .sendPing)
        heartbeat.skip(at: at(59))
        #expect(heartbeat.nextTick == at(60))
        for due in [60, 90, 120] {
            heartbeat.skip(at: at(due))
            #expect(heartbeat.unanswered == 1)
            #expect(heartbeat.nextTick == at(due + 30))
        }
        #expect(heartbeat.tick(at: at(150)) == .sendPing)
        #expect(heartbeat.tick(at: at(180)) == .dead)
    }

    @Test func `The interval is configurable`() {
        var heartbeat = Heartbeat(start: start, interval: .seconds(5))
        #expect(heartbeat.tick(at: at(5)) == .sendPing)
        #expect(heartbeat.nextTick == at(10))
    }
}
