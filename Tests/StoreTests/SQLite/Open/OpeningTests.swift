import Chat
import GRDB
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("Opening a database", .partOfSQLite(.files))
struct OpeningTests {
    /// Returns the error of opening.
    private func refusal(_ path: String, _ configuration: StoreConfiguration = StoreConfiguration()) -> String? {
        #expect(throws: StoreError.self) {
            try SQLiteLog(path: path, observer: Listener(), configuration: configuration)
        }?.description
    }

    @Test func `is refused to a second server under any name of the file, until the first one closes it`() throws {
        let directory = try TemporaryDirectory()
        let log = try TestLog(in: directory)
        try log.send(.init())
        #expect(refusal(log.path) == "\(log.path) is in use by another server")
        let link = directory.path(of: "link.db")
        #expect(symlink(log.path, link) == 0)
        #expect(mkdir(directory.path(of: "sub"), 0o700) == 0)
        for name in [link, "\(directory.path)/sub/../log.db", "\(directory.path)//./log.db"] {
            #expect(refusal(name) == "\(name) is in use by another server")
        }
        #expect(try log.send(.init()).seq == 2)
        log.close()
        #expect(try TestLog(at: link, of: directory).state().head == 2)
    }

    @Test func `is refused to a second server if the first one created the file behind a link`() throws {
        let directory = try TemporaryDirectory()
        #expect(mkdir(directory.path(of: "disk"), 0o700) == 0)
        let (link, file) = (directory.path(of: "link.db"), directory.path(of: "disk/log.db"))
        #expect(symlink("disk/log.db", link) == 0)
        let log = try TestLog(at: link, of: directory)
        for name in [link, file] { #expect(refusal(name) == "\(name) is in use by another server") }
        #expect(try log.send(.init()).seq == 1)
        log.close()
        #expect(try run("ls", directory.path(of: "disk")) == "log.db\nlog.db.lock\n")
        #expect(try run("ls", directory.path) == "disk\nlink.db\n")
        #expect(try TestLog(at: file, of: directory).state().head == 1)
    }

    @Test func `reports a link to a missing directory`() throws {
        let directory = try TemporaryDirectory()
        let link = directory.path(of: "link.db")
        #expect(symlink("disk/log.db", link) == 0)
        #expect(refusal(link) == "\(link) cannot be read and written: No such file or directory")
    }

    @Test func `is refused for a file with two names, in use or not`() throws {
        let directory = try TemporaryDirectory()
        let log = try TestLog(in: directory)
        try log.send(.init())
        let other = directory.path(of: "other.db")
        #expect(link(log.path, other) == 0)
        let reason = "cannot be opened: the file has a second name, a hard link; remove it, or copy the file"
        #expect(refusal(other) == "\(other) \(reason)")
        log.close()
        #expect(refusal(log.path) == "\(log.path) \(reason)")
        #expect(unlink(other) == 0)
        #expect(try TestLog(in: directory).send(.init()).seq == 2)
    }

    @Test func `ignores the lock of a dead server`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "log.db.lock")
        #expect(try TestLog(in: directory).send(.init()).seq == 1)
    }

    @Test func `reports that another program is writing`() throws {
        let directory = try TemporaryDirectory()
        let log = try TestLog(in: directory)
        log.close()
        var settings = Configuration()
        settings.allowsUnsafeTransactions = true
        let program = try DatabaseQueue(path: log.path, configuration: settings)
        try program.inDatabase { db in
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        }
        var impatient = StoreConfiguration()
        impatient.busyTimeout = 1
        #expect(refusal(log.path, impatient) == "\(log.path) is locked by another program")
        try program.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try program.close()
        #expect(try TestLog(in: directory).send(.init()).seq == 1)
    }

    @Test func `reports a directory or device`() throws {
        let directory = try TemporaryDirectory()
        for path in [directory.path, directory.path + "/", "", "/dev/null", "."] {
            #expect(
                refusal(path)
                    == "\(path) is not a file: give the path of a file, which need not exist")
        }
    }

    @Test func `leaves a file that is not a database unchanged`() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "Dear diary! ", count: 1000)
        let path = try directory.write(text, to: "diary.txt")
        #expect(refusal(path) == "\(path) is not a database of Backscroll")
        #expect(try run("cat", path) == text)
    }

    @Test func `leaves another program's database unchanged`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "contacts.db")
        let contacts = try DatabaseQueue(path: path)
        try contacts.write {
            try $0.execute(sql: "CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('x')")
        }
        try contacts.close()
        let before = try run("cksum", path)
        #expect(refusal(path) == "\(path) is not a database of Backscroll")
        #expect(try run("cksum", path) == before)
        #expect(access(path + "-wal", F_OK) != 0)
    }

    @Test func `leaves a newer version's database unchanged`() throws {
        let log = try TestLog()
        try log.sql { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v98'), ('v99')") }
        log.close()
        let before = try run("cksum", log.path)
        #expect(
            refusal(log.path)
                == "\(log.path) was written by a newer version of Backscroll, with v98, v99, which this version does not know"
        )
        #expect(try run("cksum", log.path) == before)
    }

    @Test func `does not treat a damaged one as empty`() throws {
        let log = try TestLog()
        try log.fill(100)
        log.close()
        // Overwrites the page of the tables' definitions, after the header.
        let file = open(log.path, O_WRONLY | O_CLOEXEC)
        let nonsense = [UInt8](repeating: 0xA5, count: 3000)
        #expect(pwrite(file, nonsense, nonsense.count, 100) == nonsense.count)
        close(file)
        let text = refusal(log.path)
        #expect(text?.hasPrefix("\(log.path) is damaged and must be restored from a backup: ") == true, "\(text ?? "")")
    }

    @Test func `reports a truncated one as damaged`() throws {
        let log = try TestLog()
        try log.fill(100)
        log.close()
        #expect(truncate(log.path, StoreConfiguration.pageSize * 4) == 0)
        let text = refusal(log.path)
        #expect(text?.hasPrefix("\(log.path) is damaged and must be restored from a backup: ") == true, "\(text ?? "")")
    }

    @Test func `reports one without its epoch as damaged`() throws {
        let log = try TestLog()
        try log.sql { try $0.execute(sql: "DELETE FROM meta") }
        log.close()
        #expect(
            refusal(log.path) == "\(log.path) is damaged and must be restored from a backup: its epoch is missing")
    }

    @Test func `reports a full disk, and succeeds when there is space`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "log.db")
        var small = StoreConfiguration()
        small.maximumPages = 4
        #expect(refusal(path, small) == "\(path) cannot be opened: the disk is full")
        #expect(try TestLog(in: directory).send(.init()).seq == 1)
    }

    @Test func `reports a file that is not writable`() throws {
        let directory = try TemporaryDirectory()
        let log = try TestLog(in: directory)
        log.close()
        chmod(directory.path, 0o777)
        chmod(log.path, 0o444)
        withoutPrivileges {
            #expect(refusal(log.path) == "\(log.path) cannot be read and written: Permission denied")
        }
    }

    @Test func `reports a directory that is not writable or cannot be created`() throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o555)
        let failure = "cannot create the database's files in the directory"
        withoutPrivileges {
            #expect(
                refusal(directory.path(of: "log.db"))
                    == "\(failure) \(directory.path): Permission denied")
            let sub = directory.path(of: "sub")
            #expect(refusal("\(sub)/log.db")?.hasPrefix("the directory \(sub) does not exist") == true)
        }
        chmod(directory.path, 0o755)
        let file = try directory.write("", to: "file")
        #expect(refusal("\(file)/log.db") == "\(failure) \(file): Not a directory")
        #expect(refusal("\(file)/sub/log.db") == "\(failure) \(file)/sub: Not a directory")
    }

    @Test func `reports a missing directory without creating it, since the history may be elsewhere`() throws {
        let directory = try TemporaryDirectory()
        let sub = directory.path(of: "a/b")
        #expect(
            refusal("\(sub)/log.db")
                == "the directory \(sub) does not exist: create it, or choose another path for the database")
        #expect(access(directory.path(of: "a"), F_OK) != 0)
    }

    @Test func `does not discard a write-ahead log without its database`() throws {
        let log = try TestLog()
        try log.fill(3)
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "log.db")
        try run("cp", log.path + "-wal", path + "-wal")
        #expect(
            refusal(path)
                == "\(path) cannot be opened: \(path)-wal exists without its database; "
                + "restore that from a backup, or remove the log")
        #expect(access(path + "-wal", F_OK) == 0)
    }
}
