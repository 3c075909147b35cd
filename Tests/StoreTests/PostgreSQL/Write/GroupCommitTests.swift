import Testing

@testable import Store

@Suite("A group commit")
struct GroupCommitTests {
    private let start = ContinuousClock.now

    /// Returns what is expected after a commit that took some time.
    private func expected(
        committed: Int, waiting: Int, took duration: Duration = .milliseconds(1)
    ) -> ExpectedGroup? {
        var group = GroupCommit()
        group.note(committed: committed, waiting: waiting, from: start, to: start + duration)
        return group.expected
    }

    @Test func `begins at once at first, and for a lone sender`() {
        #expect(GroupCommit().expected == nil)
        #expect(expected(committed: 1, waiting: 0) == nil)
    }

    @Test func `waits for the senders of the last commit and those in the queue, as long as that commit took`() {
        let deadline = start + .milliseconds(2)
        #expect(expected(committed: 1, waiting: 7) == ExpectedGroup(count: 8, deadline: deadline))
        #expect(expected(committed: 8, waiting: 0) == ExpectedGroup(count: 8, deadline: deadline))
    }

    @Test func `begins at once when there are more senders than it waits for`() {
        let most = GroupCommit.maximumCount
        #expect(expected(committed: most, waiting: 0)?.count == most)
        #expect(expected(committed: most, waiting: 1) == nil)
    }

    @Test func `waits no longer than its bound after a slow commit, and not after a failed one`() {
        let took = Duration.seconds(3)
        #expect(expected(committed: 2, waiting: 0, took: took)?.deadline == start + took + GroupCommit.longestWait)
        #expect(expected(committed: 0, waiting: 5) == nil)
    }
}
