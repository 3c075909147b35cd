import Chat
import RuleModel
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Any history of changes")
struct RuleTests {
    /// All kinds but those of users, which a commit's other rooms would have to wait for, and whose erasure goes on in the
    /// background.
    private static let kinds: [RandomHistory.Kind] = [
        .send, .sendWithID, .sendWithID, .read, .edit, .addReaction, .removeReaction, .pin, .unpin, .delete, .settings,
        .setMember, .setMember, .removeMember, .setBan, .removeBan, .deleteRoom, .setDirect,
    ]

    @Test(arguments: [
        RandomHistory.Shape("any", kinds: kinds),
        RandomHistory.Shape("rooms by admins only", kinds: kinds, policy: Facts.Policy(roomsByAdminsOnly: true)),
        RandomHistory.Shape(
            "members by admins only", kinds: kinds, policy: Facts.Policy(membersByAdminsOnly: true)),
        RandomHistory.Shape("one room", users: 6, rooms: 1, kinds: kinds),
        RandomHistory.Shape("blocks and reports", kinds: kinds + [.setBlock, .report, .closeReport]),
        RandomHistory.Shape("what may disturb", kinds: kinds.filter { $0 != .read } + [.setNotify, .setNotify]),
        RandomHistory.Shape("few mention rooms", kinds: kinds, policy: Facts.Policy(roomMentionMembers: 1)),
    ])
    func `has the outcomes that the rules give, in commits of any size`(shape: RandomHistory.Shape) throws {
        for seed in 0..<3 as Range<UInt64> {
            let clock = TestClock()
            let log = try TestLog {
                $0.clock = { clock.now }
                // Several writers would decide in any order what concerns several rooms: blocks, and reports in a minute.
                if shape.kinds.contains(.report) { $0.writers = 1 }
                $0.roomsByAdminsOnly = shape.policy.roomsByAdminsOnly
                $0.membersByAdminsOnly = shape.policy.membersByAdminsOnly
                $0.roomMentionMembers = shape.policy.roomMentionMembers
            }
            var (history, naive) = (RandomHistory(shape, seed: seed), NaiveLog(shape.policy))
            for _ in 0..<20 {
                clock.step(Int64.random(in: -20...300, using: &history.random))
                // Read marks must not wait for sends of the same commit, so they are within the messages before it.
                let heads = naive.rooms.mapValues { Int64($0.posts.count) }
                let count = Bool.random(using: &history.random) ? 3 : 60
                let all = try (0..<count).map { _ in try history.submission { heads[$0] ?? 0 } }
                // Trials do not delay sends of the same commit either.
                for submissions in [all.filter { !$0.isTrial }, all.filter(\.isTrial)] where !submissions.isEmpty {
                    let results = try log.submitAll(submissions)
                    for (submission, result) in zip(submissions, results) {
                        let expected = naive.submit(submission, at: clock.now)
                        guard result == expected else {
                            Issue.record("\(shape.name), \(seed): \(submission) is \(result) instead of \(expected)")
                            return
                        }
                    }
                }
            }
            try expectMessages(naive, in: log)
        }
    }

    private func expectMessages(_ naive: NaiveLog, in log: TestLog) throws {
        for (id, room) in naive.rooms where !room.isDeleted && !room.isPrivate {
            #expect(try log.state(of: id.string) == RoomState(head: Int64(room.posts.count), rev: room.rev))
            for number in 0..<6 {
                let user = "user\(number)"
                do {
                    #expect(try log.summary(of: id.string, for: user).notify == naive.notify(UserID(user), id))
                } catch let problem as Problem where problem.code == .banned {}
            }
            for post in room.posts {
                var body: [UInt8] = []
                post.message.encode(into: &body)
                #expect(try log.message(post.message.seq, of: id.string) == body)
            }
        }
    }
}
