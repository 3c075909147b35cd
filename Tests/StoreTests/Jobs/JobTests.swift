import Testing
import Wire

@testable import Store

@Suite("Jobs")
struct JobTests {
    /// Works on the first job `count` times, without ending any, and returns their ids.
    private func work(_ count: Int, _ jobs: inout Jobs) -> [Int64] {
        (0..<count).compactMap { _ in
            guard let job = jobs.first else { return nil }
            jobs.worked(on: job, next: job, from: .now, to: .now)
            return job.id
        }
    }

    @Test func `take turns, and every second part is that of an erasure, however many other jobs there are`() throws {
        var jobs = Jobs(retry: .seconds(1), at: .now)
        #expect(jobs.next == nil && jobs.first == nil)
        jobs.add((1...3).map { Job(id: $0, kind: .room($0)) })
        #expect(work(4, &jobs) == [1, 2, 3, 1])
        let erasures = [Job(id: 8, kind: .user(try UserID("a"))), Job(id: 9, kind: .user(try UserID("b")))]
        jobs.add(erasures)
        #expect(work(8, &jobs) == [8, 2, 9, 3, 8, 1, 9, 2])
        // The rows of all jobs, as read again.
        jobs.add((1...3).map { Job(id: $0, kind: .room($0)) } + erasures)
        #expect(work(4, &jobs) == [8, 1, 9, 2])
        let first = try #require(jobs.first)
        let isFirstFailure = jobs.failed(first, at: .now)
        #expect(isFirstFailure && jobs.first?.id == 3)
        jobs.worked(on: try #require(jobs.first), next: nil, from: .now, to: .now)
        #expect(work(4, &jobs) == [9, 1, 8, 2])
    }

    @Test func `that are erasures only follow each other`() throws {
        var jobs = Jobs(retry: .seconds(1), at: .now)
        jobs.add([Job(id: 1, kind: .user(try UserID("a"))), Job(id: 2, kind: .user(try UserID("b")))])
        #expect(work(3, &jobs) == [1, 2, 1])
        for _ in 1...2 { jobs.worked(on: try #require(jobs.first), next: nil, from: .now, to: .now) }
        #expect(jobs.first == nil && jobs.next == nil)
    }

    @Test func `that a part adds take nothing from the job of that part`() throws {
        var jobs = Jobs(retry: .seconds(1), at: .now)
        let erasure = Job(id: 1, kind: .user(try UserID("a")))
        jobs.add([erasure])
        #expect(work(1, &jobs) == [1])
        // The part of the erasure makes a job of the other kind necessary, before the part is recorded.
        jobs.add([Job(id: 2, kind: .reactions(7))])
        jobs.worked(on: erasure, next: nil, from: .now, to: .now)
        #expect(work(2, &jobs) == [2, 2])
    }
}
