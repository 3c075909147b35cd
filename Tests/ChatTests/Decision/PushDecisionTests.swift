import Chat
import Testing
import Wire

@Suite("Which members are due for a push")
struct PushDecisionTests {
    private static let start: Int64 = 1_800_000_000_000

    private func message(
        _ seq: Int64, by sender: String = "alice", at seconds: Int64 = 0, mentions: [String] = [], room: Bool = false,
        silent: Bool = false, deleted: Bool = false
    ) -> Message {
        let mentions = Mentions(users: mentions.map { UserID(trusted: $0) }, room: room)
        return Message(
            room: RoomID(trusted: "lobby"), seq: seq, rev: seq, sender: UserID(trusted: sender),
            content: Content(text: "x", mentions: mentions, silent: silent),
            createdAt: Timestamp(milliseconds: Self.start + seconds * 1000), deleted: deleted)
    }

    private func member(
        _ user: String = "bob", _ notify: NotifySettings? = nil, mark: Int64 = 0, pushed: Int64 = 0
    ) -> PushMember {
        PushMember(user: UserID(trusted: user), mark: mark, pushed: pushed, notify: notify)
    }

    private func decide(
        _ messages: [Message], _ members: [PushMember], at seconds: Int64 = 0, live: Set<String> = [],
        _ change: (inout PushFacts) -> Void = { _ in }
    ) -> PushDecision {
        var facts = PushFacts(messages: messages, members: members)
        change(&facts)
        return PushDecision(
            facts, at: Timestamp(milliseconds: Self.start + seconds * 1000), delay: .seconds(30)
        ) { live.contains($0.string) }
    }

    private func due(_ decision: PushDecision) -> [String] {
        decision.due.map { "\($0.user) \($0.seq) \($0.reason.rawValue)" }
    }

    @Test func `is everybody but the sender without a live connection, for the newest message`() {
        let decision = decide([message(1), message(2)], [member("alice"), member()])
        #expect(due(decision) == ["bob 2 message"])
        #expect(decision.waiting.isEmpty && decision.next == nil && decision.firstOpen == 1)
    }

    @Test func `waits with a live connection from the first message on, and later ones do not restart it`() {
        let messages = [message(1), message(2, at: 20)]
        let early = decide(messages, [member()], at: 29, live: ["bob"])
        #expect(due(early) == [] && early.waiting == [UserID(trusted: "bob")] && early.firstOpen == 1)
        #expect(early.next == Timestamp(milliseconds: Self.start + 30_000))
        #expect(due(decide(messages, [member()], at: 30, live: ["bob"])) == ["bob 2 message"])
        // Going offline makes it due at once, and reading cancels it.
        #expect(due(decide(messages, [member()], at: 29)) == ["bob 2 message"])
        let read = decide(messages, [member(mark: 2)], at: 30, live: ["bob"])
        #expect(due(read) == [] && read.next == nil && read.firstOpen == nil)
        // The next message after a push has its own time.
        let next = decide(messages, [member(pushed: 1)], at: 31, live: ["bob"])
        #expect(next.next == Timestamp(milliseconds: Self.start + 50_000) && next.firstOpen == 2)
    }

    @Test func `is nobody for what was read, pushed, deleted, or sent silently or by a blocked user`() {
        #expect(due(decide([message(1)], [member(mark: 1), member("carol", pushed: 1)])) == [])
        #expect(due(decide([message(1, deleted: true), message(2, silent: true)], [member()])) == [])
        let blocked = decide([message(1), message(2, by: "carol")], [member(), member("dora")]) {
            $0.blocks = [UserID(trusted: "carol"): [UserID(trusted: "bob")]]
        }
        #expect(due(blocked) == ["bob 1 message", "dora 2 message"])
        #expect(decide([], [member()]).firstOpen == nil)
    }

    @Test func `follows what may disturb the member, while that is in force`() {
        let messages = [message(1), message(2, mentions: ["bob"]), message(3, room: true), message(4)]
        func of(_ level: NotifySettings.Level, until: Int64? = nil, room: Bool = true) -> [String] {
            let end = until.map { Timestamp(milliseconds: Self.start + $0 * 1000) }
            let settings = NotifySettings(level: level, until: end, roomMentions: room)
            return due(decide(messages, [member("bob", settings)], at: 10))
        }
        #expect(of(.all) == ["bob 4 message"])
        #expect(of(.mentions) == ["bob 3 mention"])
        #expect(of(.mentions, room: false) == ["bob 2 mention"])
        #expect(of(.none) == [])
        #expect(of(.none, until: 11) == [] && of(.none, until: 10) == ["bob 4 message"])
        #expect(
            due(decide([message(1, room: true)], [member("bob", NotifySettings(roomMentions: false))])) == [
                "bob 1 message"
            ])
    }

    @Test func `says why, and pushes only mentions in large rooms`() {
        let messages = [message(1, mentions: ["carol"]), message(2, room: true), message(3)]
        #expect(due(decide(messages, [member()]) { $0.isDirect = true }) == ["bob 3 direct"])
        #expect(
            due(decide(messages, [member(), member("carol")]) { $0.isLarge = true }) == [
                "bob 2 mention", "carol 2 mention",
            ])
        #expect(
            due(decide([messages[0], messages[2]], [member(), member("carol")]) { $0.isLarge = true }) == [
                "carol 1 mention"
            ])
        let quiet = NotifySettings(roomMentions: false)
        #expect(due(decide(messages, [member("bob", quiet)]) { $0.isLarge = true }) == [])
    }
}
