import Chat
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("The permissions of the database's files", .partOfSQLite(.files))
struct RightsTests {
    private static let suffixes = ["", "-wal", "-shm", ".lock"]

    private func rights(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func `are for their owner only`() throws {
        let log = try TestLog()
        try log.fill(3)
        for suffix in Self.suffixes { #expect(rights(log.path + suffix) == 0o600, "\(suffix)") }
    }

    @Test func `are reduced at the start if an earlier version granted more, except on the directory`() throws {
        let directory = try TemporaryDirectory()
        let log = try TestLog(in: directory)
        try log.fill(3)
        for suffix in Self.suffixes { try run("cp", log.path + suffix, directory.path(of: "old.db" + suffix)) }
        for suffix in Self.suffixes { chmod(directory.path(of: "old.db" + suffix), 0o644) }
        chmod(directory.path, 0o755)
        let old = try TestLog(at: directory.path(of: "old.db"), of: directory)
        #expect(try old.state().head == 3)
        for suffix in Self.suffixes { #expect(rights(old.path + suffix) == 0o600, "\(suffix)") }
        #expect(rights(directory.path) == 0o755)
    }
}
