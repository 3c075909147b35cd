import Chat
import GRDB
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("A backup is refused", .partOfSQLite(.backup))
struct BackupPlaceTests {
    private let directory: TemporaryDirectory
    private let log: TestLog

    init() throws {
        directory = try TemporaryDirectory()
        log = try TestLog(in: directory)
        try log.fill(2)
    }

    /// Returns the error of a backup of `source`, by default of the log.
    private func refusal(of source: String? = nil, to path: String, replacing: Bool = false) -> String? {
        #expect(throws: StoreError.self) {
            try Backup(of: source ?? log.path, to: path, replacing: replacing).run()
        }?.description
    }

    @Test func `if the file exists; with --force it is replaced as a whole`() throws {
        let path = try directory.write("precious", to: "copy.db")
        #expect(refusal(to: path) == "the backup cannot be written to \(path): the file exists already")
        #expect(try contents(of: path) == "precious")
        #expect(try Backup(of: log.path, to: path, replacing: true).run().messages == 2)
        #expect(try DatabaseCheck(path).run().isSound)
    }

    @Test func `if the file is created meanwhile`() throws {
        let path = directory.path(of: "copy.db")
        let backup = try Backup(of: log.path, to: path)
        try directory.write("precious", to: "copy.db")
        let error = #expect(throws: StoreError.self) { try backup.run() }
        #expect(error?.description == "the backup cannot be written to \(path): the file exists already")
        #expect(try contents(of: path) == "precious")
        #expect(try run("ls", "-A", directory.path).contains("backup") == false)
    }

    @Test(arguments: [false, true])
    func `if it would overwrite the database or its files`(replacing: Bool) throws {
        let before = try log.page().messages
        let reason = refusal(to: log.path, replacing: replacing)
        #expect(reason?.hasPrefix("the backup cannot be written to \(log.path): ") == true)
        let other = directory.path(of: "other.db")
        #expect(link(log.path, other) == 0)
        #expect(
            refusal(to: other, replacing: replacing)
                == "the backup cannot be written to \(other): it is the database itself")
        for suffix in ["-wal", "-shm", "-journal", ".lock", ".last-backup"] {
            let path = log.path + suffix
            #expect(
                refusal(to: path, replacing: replacing)
                    == "the backup cannot be written to \(path): it belongs to the database \(log.path)")
        }
        #expect(try log.page().messages == before)
    }

    @Test(arguments: [false, true])
    func `if its path is a symbolic link`(replacing: Bool) throws {
        let target = try directory.write("precious", to: "target")
        let path = directory.path(of: "copy.db")
        #expect(symlink(target, path) == 0)
        #expect(
            refusal(to: path, replacing: replacing) == "the backup cannot be written to \(path): it is a symbolic link")
        #expect(try contents(of: target) == "precious")
    }

    @Test func `if its path is that of a database in use`() throws {
        let other = try TestLog()
        try other.fill(1)
        #expect(
            refusal(to: other.path, replacing: true)
                == "the backup cannot be written to \(other.path): \(other.path)-wal exists: the path is that of a database in use, or of one that was not closed"
        )
        #expect(try other.state().head == 1)
    }

    @Test(arguments: ["/", "", "/dev/null", ".", "/tmp/.."])
    func `if its path is a directory, a device or empty`(path: String) {
        #expect(
            refusal(to: path, replacing: true)
                == "\(path) is not a file: give the path of a file, which need not exist")
    }

    @Test func `if its directory does not exist or is not writable`() throws {
        let path = directory.path(of: "none/copy.db")
        #expect(
            refusal(to: path)
                == "the directory \(directory.path)/none/ cannot be used for a backup: No such file or directory")
        let closed = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        chmod(log.path, 0o644)
        chmod(closed.path, 0o555)
        withoutPrivileges {
            #expect(
                refusal(to: closed.path(of: "copy.db"))
                    == "the directory \(closed.path) cannot be used for a backup: Permission denied")
        }
    }

    @Test func `without a database, or of a foreign or newer one`() throws {
        let copy = directory.path(of: "copy.db")
        let none = directory.path(of: "none.db")
        #expect(refusal(of: none, to: copy) == "there is no database at \(none)")
        #expect(refusal(of: "/dev/null", to: copy)?.hasPrefix("/dev/null is not a file") == true)
        let diary = try directory.write(String(repeating: "Dear diary! ", count: 1000), to: "diary.txt")
        #expect(refusal(of: diary, to: copy) == "\(diary) is not a database of Backscroll")
        let nothing = try directory.write("", to: "nothing")
        #expect(refusal(of: nothing, to: copy) == "\(nothing) is not a database of Backscroll")
        try log.sql { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v98'), ('v99')") }
        #expect(
            refusal(to: copy)
                == "\(log.path) was written by a newer version of Backscroll, with v98, v99, which this version does not know"
        )
        #expect(access(copy, F_OK) != 0 && access(none, F_OK) != 0)
        #expect(try contents(of: nothing) == "")
    }

    @Test func `of a damaged database`() throws {
        let path = directory.path(of: "damaged.db")
        log.close()
        try run("cp", log.path, path)
        #expect(truncate(path, StoreConfiguration.pageSize * 4) == 0)
        let copy = directory.path(of: "copy.db")
        let reason = refusal(of: path, to: copy)
        #expect(reason?.hasPrefix("\(path) is damaged") == true, "\(reason ?? "")")
        try run("cp", log.path, path)
        try DatabaseQueue(path: path).write { try $0.execute(sql: "DELETE FROM meta WHERE key = 'epoch'") }
        #expect(access(copy, F_OK) != 0)
    }
}
