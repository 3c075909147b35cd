import Store
import Testing

@Suite("The place of a database")
struct DatabaseLocationTests {
    @Test(
        "is shown without a password",
        arguments: [
            ("data/backscroll.db", "data/backscroll.db"),
            ("postgres://alice:secret@db.example/chat", "postgres://alice@db.example/chat"),
            (
                "postgresql://alice:a@b:c@[::1]:5432/chat?sslmode=require",
                "postgresql://alice@[::1]:5432/chat?sslmode=require"
            ),
            ("postgres://alice@db:5432/chat", "postgres://alice@db:5432/chat"),
            ("postgres://db/chat?user=alice&password=secret", "postgres://db/chat?user=alice"),
            ("postgres:///chat?password=secret", "postgres:///chat"),
        ])
    func masked(text: String, shown: String) {
        let location = DatabaseLocation(text)
        #expect(location.description == shown)
        #expect(location.hasPassword == (text != shown))
    }

    @Test("is PostgreSQL's for its URLs only")
    func kinds() {
        for text in ["postgres://h/d", "postgresql:///d"] {
            guard case .postgres = DatabaseLocation(text) else { Issue.record("\(text)"); continue }
        }
        for text in ["postgres", "postgres:/x", "./postgres://x"] {
            guard case .file = DatabaseLocation(text) else { Issue.record("\(text)"); continue }
        }
    }
}
