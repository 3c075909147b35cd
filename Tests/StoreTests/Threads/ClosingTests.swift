import Chat
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Closing")
struct ClosingTests {
    @Test func `stores submitted changes, and answers or refuses queries`() throws {
        let log = try TestLog {
            $0.commit.submissions = 3
            $0.readers = 1
        }
        let submissions = try log.submissions((0..<20).map { .init(text: "\($0)") })
        let queries = try (0..<20).map { _ in try log.query({ .state($0) }) }
        log.log.submit(submissions)
        log.log.fetch(queries)
        log.close()
        #expect(log.listener.commits.events.flatMap(\.outcomes).map(\.ticket) == submissions.map(\.ticket))
        let replies = log.listener.rounds.events.flatMap { $0 }
        #expect(replies.count == queries.count)
        #expect(Set(replies.map { ObjectIdentifier($0) }) == Set(queries.map { ObjectIdentifier($0.reply) }))
        // Queries that still wait when the server's connections have ended are not worth a read.
        #expect(replies.allSatisfy { $0.problem == nil || $0.problem?.code == .unavailable })
        #expect(try log.reopened().state().head == 20)
    }

    @Test func `refuses later requests with 503`() throws {
        let log = try TestLog()
        try log.fill(2)
        log.close()
        let gone = Problem.unavailable("The server is shutting down.")
        for result in try log.sendAll([.init(), .init()]) {
            #expect(throws: gone) { try result.get() }
        }
        #expect(throws: gone) { try log.state() }
        #expect(log.log.queuedSubmissions == 0 && log.log.queuedQueries == 0)
    }

    @Test func `may be repeated, from several threads too`() throws {
        let log = try TestLog()
        try log.fill(2)
        inParallel(4) { _ in log.close() }
        log.close()
        #expect(try log.reopened().state().head == 2)
    }

    @Test(.onSQLite(.files))
    func `leaves a single file with everything in it, and releases the database`() throws {
        let log = try TestLog()
        let bodies = try log.fill(50)
        #expect(access(log.path + "-wal", F_OK) == 0)
        log.close()
        #expect(access(log.path + "-wal", F_OK) != 0)
        #expect(access(log.path + "-shm", F_OK) != 0)
        let again = try TestLog(at: log.path, of: log)
        #expect(try again.page(.newest, limit: 200).messages == joined(bodies))
    }

    @Test func `happens by itself when nobody holds the log`() throws {
        let directory = try TemporaryDirectory()
        for round in 1...3 as ClosedRange<Int64> {
            let log = try TestLog(in: directory)
            #expect(try log.send(.init()).seq == round)
        }
    }

    @Test func `ends threads that have distinct names`() throws {
        let log = try TestLog { $0.readers = 3 }
        for name in (TestStore.isPostgres ? ["writer 0", "writer 1"] : ["writer"]) + [
            "reader 0", "reader 1", "reader 2",
        ] {
            try waitUntil { threadNames().contains(name) }
        }
        log.close()
    }

    private func threadNames() -> [String] {
        guard let directory = opendir("/proc/self/task") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let thread = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            var name = [UInt8](repeating: 0, count: 16)
            let count = read(file, &name, name.count)
            if count > 0 { names.append(String(decoding: name[..<(count - 1)], as: UTF8.self)) }
        }
        return names
    }
}
