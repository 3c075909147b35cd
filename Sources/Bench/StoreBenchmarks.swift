import Chat
import Dispatch
import Glibc
import Store
import Synchronization
import Wire

/// Benchmarks of the log: commits, each with its sync, and pages.
///
/// It creates the database in its own directory and removes it at the end.
final class StoreBenchmarks {
    /// Number of messages of the room that pages are read from.
    private let messages: Int
    private let directory: String
    private let observer = Answers()
    private let log: SQLiteLog
    private var sent = 0

    /// Creates the database and fills a room.
    ///
    /// - Parameters:
    ///   - directory: the parent of the database's directory, which decides the disk that is measured.
    ///   - messages: the number of messages of the room.
    init(in directory: String, messages: Int) throws {
        self.messages = messages
        var template = Array("\(directory)/backscroll-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError.noDirectory(directory) }
        self.directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        log = try SQLiteLog(path: self.directory + "/log.db", observer: observer)
        while sent < messages { try commit(min(1000, messages - sent), to: Samples.room) }
    }

    deinit {
        log.close()
        for file in ["log.db", "log.db-wal", "log.db-shm", "log.db.lock"] { unlink("\(directory)/\(file)") }
        rmdir(directory)
    }

    var all: [Benchmark] {
        [1, 16, 64].map { size in
            Benchmark("store commit \(size)", per: "message", times: size) { [self] calls in
                for _ in 0..<calls { try commit(size, to: Self.otherRoom) }
            }
        } + [
            page("newest") { _ in .newest },
            page("random") { .before(.seq(Int64.random(in: 31...Int64($0)))) },
            page("deepest") { _ in .after(.seq(0)) },
        ]
    }

    private static let otherRoom = try! RoomID("other")

    private func commit(_ size: Int, to room: RoomID) throws {
        let submissions = try (0..<size).map { index in
            Submission(
                ticket: Ticket(loop: 0, number: UInt64(index)), room: room, sender: Samples.sender,
                change: .send(try Draft.decode(Samples.draft(sent + index))))
        }
        sent += size
        log.submit(submissions)
        try observer.wait(for: size)
    }

    /// Returns a benchmark that reads pages of 30 messages, as many at a time as a reader accepts.
    private func page(_ which: String, _ anchor: @escaping (Int) -> PageRequest.Anchor) -> Benchmark {
        Benchmark("store page, \(which) of \(messages)", per: "page", times: 32) { [self] calls in
            for _ in 0..<calls {
                let replies = (0..<32).map { _ in Reply<PageSlice>(loop: 0, client: .connection(0)) { _ in } }
                log.fetch(
                    replies.map { reply in
                        let request = PageRequest(anchor: anchor(messages), limit: 30)
                        return Query(reply) { .room(Samples.room, .page(request, $0)) }
                    })
                try observer.wait(for: 32)
                for reply in replies { _ = try reply.result!.get() }
            }
        }
    }
}

/// Counts the answers of the log.
private final class Answers: LogObserver {
    private let failure = Mutex<Problem?>(nil)
    /// Signaled once per answer. A waiting thread sleeps and leaves the core to the log's threads.
    private let answered = DispatchSemaphore(value: 0)

    func membershipsChanged(_ changes: [MembershipChange]) {}
    func accessEnded(_ ends: [AccessEnd]) {}

    func committed(_ outcomes: [Outcome], _ batches: [Batch]) {
        for outcome in outcomes {
            if case .failure(let problem) = outcome.result { failure.withLock { $0 = $0 ?? problem } }
            answered.signal()
        }
    }

    func fetched(_ replies: [any PendingReply]) {
        for _ in replies { answered.signal() }
    }

    /// Waits until `count` answers have arrived.
    func wait(for count: Int) throws {
        for _ in 0..<count { answered.wait() }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
