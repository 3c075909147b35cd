import Testing

@testable import Store

@Suite("The location of a database")
struct DatabaseLocationTests {
    @Test(arguments: [
        ("data/backscroll.db", "data/backscroll.db"),
        ("postgres://alice:secret@db.example/chat", "postgres://alice@db.example/chat"),
        (
            "postgresql://alice:a@b:c@[::1]:5432/chat?sslmode=require",
            "postgresql://alice@[::1]:5432/chat?sslmode=require"
        ),
        ("postgres://alice@db:5432/chat", "postgres://alice@db:5432/chat"),
        ("postgres://db/chat?user=alice&password=secret", "postgres://db/chat?user=alice"),
        ("postgres:///chat?password=secret", "postgres:///chat"),
        ("postgres://alice:what?@db/chat", "postgres://alice@db/chat"),
        (
            "postgres://alice:secret@a:5432,b:5433/chat?target_session_attrs=read-write",
            "postgres://alice@a:5432,b:5433/chat?target_session_attrs=read-write"
        ),
    ])
    func `is shown without a password`(text: String, shown: String) {
        let location = DatabaseLocation(text)
        #expect(location.description == shown)
        #expect(location.hasPassword == (text != shown))
    }

    @Test(arguments: [
        ["serve", "--database", "postgres://alice:secret@db/chat"],
        ["check", "--database=postgres://alice:secret@db/chat"], ["check", "postgres://alice:secret@db/chat"],
        ["copy", "chat.db", "postgres://alice:secret@db/chat"],
        ["epoch", "--renew", "--database=postgresql:///d?password=x"],
    ])
    func `is found among a program's arguments if it has a password`(arguments: [String]) {
        let found = DatabaseLocation.withPassword(in: arguments)
        #expect(found?.hasPassword == true && found?.description.contains("secret") == false)
    }

    @Test func `is not found among arguments without a password`() {
        #expect(
            DatabaseLocation.withPassword(in: [
                "serve", "--database=postgres://alice@db/chat", "--database", "data/postgres://a:b@c",
                "--jwt-key=a:b@c",
                "--",
            ]) == nil)
    }

    @Test func `is PostgreSQL's for its URLs only`() {
        for text in ["postgres://h/d", "postgresql:///d"] {
            guard case .postgres = DatabaseLocation(text) else { Issue.record("\(text)"); continue }
        }
        for text in ["postgres", "postgres:/x", "./postgres://x"] {
            guard case .file = DatabaseLocation(text) else { Issue.record("\(text)"); continue }
        }
    }

    @Test(arguments: [
        "host=/tmp/x dbname=chat", " HOST = db", "dbname=chat", "user=chat password=secret", "hostaddr='10.0.0.1'",
        "service=chat", "sslmode=require host=db", "Postgres://db/chat", "postgresql+ssl://db/chat",
        "mysql://db/chat",
    ])
    func `is refused if a connection string is given as a path`(text: String) {
        let open = [
            { _ = try SQLiteLog(path: text, observer: Listener()) }, { _ = try Backup(of: text, to: "copy.db") },
            { _ = try DatabaseCheck(DatabaseLocation(text)) }, { _ = try HistoryExport(of: text) },
            {
                _ = try DatabaseCopy(of: DatabaseLocation(text), to: .file("copy.db")).run(progress: { _ in })
            },
        ]
        for open in open {
            let error = #expect(throws: StoreError.self) { try open() }
            #expect(error?.description.contains("postgres://USER@HOST/NAME") == true)
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test(arguments: ["./host=x", "data/a=b.db", "/x/host=y", "a=b", "c:/x", "://"])
    func `may be a file with any other name`(text: String) {
        #expect(!DatabaseLocation.isConnectionString(text))
    }
}
