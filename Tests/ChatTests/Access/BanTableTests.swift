import Chat
import Testing
import Wire

@Suite("The table of bans")
struct BanTableTests {
    /// The table forgets ended bans when it has grown, so that it does not grow for ever.
    @Test func `forgets ended bans only, however many are set`() throws {
        let table = BanTable()
        let (root, time) = (try UserID("root"), Timestamp(milliseconds: 1_000_000))
        let users = try (0..<1100).map { try UserID("user\($0)") }
        for (index, user) in users.enumerated() {
            let end = index.isMultiple(of: 2) ? nil : Timestamp(milliseconds: 999_999)
            let ban = Ban(user: user, scope: .all, until: end, by: root, createdAt: time)
            table.change([BanTable.Key(room: nil, user: user): ban], at: time)
        }
        for (index, user) in users.enumerated() where index.isMultiple(of: 2) {
            let refusal = table.refusal(of: user, in: nil, isAdmin: true, for: .read, at: time)
            #expect(refusal?.code.string == "banned")
        }
        #expect(table.bans(of: users[1], in: nil).isEmpty)
    }
}
