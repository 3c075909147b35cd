import Chat
import Testing
import Wire

@Suite("A reply")
struct ReplyTests {
    /// Counts the calls of a reply's closure.
    private final class Waiting {
        var results: [Result<Int, Problem>] = []

        func reply() -> Reply<Int> {
            Reply(loop: 2, client: .connection(7)) { [self] in results.append($0) }
        }
    }

    @Test func `hands its result over once, and keeps nothing of it`() {
        let waiting = Waiting()
        let reply = waiting.reply()
        #expect(reply.loop == 2 && reply.client == .connection(7) && reply.result == nil)
        reply.answer(5)
        reply.deliver()
        reply.deliver()
        #expect(waiting.results == [.success(5)])
        #expect(reply.result == nil && !reply.cancel())
    }

    @Test func `hands over the reason why there is no answer`() {
        let waiting = Waiting()
        let reply = waiting.reply()
        reply.fail(.overloaded)
        reply.deliver()
        #expect(waiting.results == [.failure(.overloaded)])
    }

    @Test(arguments: [true, false])
    func `releases its closure when it is delivered or cancelled, even if the reply is still held`(isCancelled: Bool) {
        var waiting: Waiting? = Waiting()
        weak let released = waiting
        let reply = waiting!.reply()
        reply.answer(5)
        if isCancelled {
            #expect(reply.cancel())
            #expect(!reply.cancel())
            reply.deliver()
            #expect(waiting?.results == [])
        } else {
            reply.deliver()
        }
        waiting = nil
        #expect(released == nil)
    }
}
