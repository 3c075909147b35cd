import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Profiles")
struct ProfileTests {
    private func set(
        _ settings: ProfileSettings, of user: String, by caller: String? = nil, isAdmin: Bool = false, _ log: TestLog
    ) throws -> Receipt {
        var submission = try log.submission(
            .user(UserID(user), .setProfile(settings)), by: caller ?? user, isAdmin: isAdmin)
        submission.room = nil
        return try log.outcome(submission).get()
    }

    private func profiles(_ users: String..., log: TestLog, for caller: String? = nil) throws -> [Profile] {
        let users = try users.map { try UserID($0) }
        let found: Profiles = try log.read(for: caller) { .profiles(users, $0) }
        return found.profiles
    }

    @Test func `are set by their users and by admins, in parts, and survive a restart`() throws {
        let log = try TestLog()
        let (bob, carol) = (try UserID("bob"), try UserID("carol"))
        #expect(try set(ProfileSettings(name: "Bob", data: Array(#"{"a":1}"#.utf8)), of: "bob", log).isNew)
        #expect(try !set(ProfileSettings(avatar: "https://x/y"), of: "bob", log).isNew)
        #expect(throws: Problem.profileOfOther) { try set(ProfileSettings(name: "C"), of: "carol", by: "bob", log) }
        _ = try set(ProfileSettings(name: "Carol"), of: "carol", by: "root", isAdmin: true, log)
        let expected = [
            Profile(user: bob, name: "Bob", avatar: "https://x/y", data: Array(#"{"a":1}"#.utf8)),
            Profile(user: carol, name: "Carol"),
        ]
        #expect(try profiles("carol", "nobody", "bob", log: log) == expected)
        #expect(try profiles("nobody", log: log) == [])
        let again = try log.reopened()
        #expect(try profiles("bob", "carol", log: again) == expected)
    }

    @Test func `that are empty are none, and the next is new`() throws {
        let log = try TestLog()
        try log.send(.init(sender: "bob"))
        let nothing = ProfileSettings(name: "", avatar: "", data: [])
        #expect(try !set(nothing, of: "bob", log).isNew)
        for _ in 0..<2 {
            #expect(try set(ProfileSettings(name: "Bob"), of: "bob", log).isNew)
            #expect(try !set(nothing, of: "bob", log).isNew)
            #expect(try profiles("bob", log: log) == [])
            let members: RoomMembers = try log.ask({ .members(after: nil, limit: 9, withProfiles: true, $0) })
            #expect(members.members.map(\.profile) == [nil])
        }
    }

    @Test(.partOfPostgreSQL)
    func `are new once, although two nodes set them at once`() throws {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let logs = [try TestLog(postgres: url), try TestLog(postgres: url)]
        defer { for log in logs { log.close() } }
        let new = Recorder<String>()
        inParallel(logs.count) { index in
            for number in 0..<60 {
                let user = "user\(number)"
                if try set(ProfileSettings(name: "\(index)"), of: user, logs[index]).isNew { new.record(user) }
            }
        }
        #expect(new.events.count == 60 && Set(new.events).count == 60)
    }

    @Test func `are in lists of members that ask for them`() throws {
        let log = try TestLog()
        try log.send(.init())
        try log.join("lobby", as: "bob")
        _ = try set(ProfileSettings(name: "Bob"), of: "bob", log)
        _ = try set(ProfileSettings(name: "Zoe"), of: "zoe", log)
        let with: RoomMembers = try log.ask({ .members(after: nil, limit: 9, withProfiles: true, $0) })
        #expect(with.members.map(\.profile?.name) == [nil, "Bob"])
        let without: RoomMembers = try log.ask({ .members(after: nil, limit: 9, $0) })
        #expect(without.members.map(\.user.string) == ["alice", "bob"])
        #expect(without.members.allSatisfy { $0.profile == nil })
    }

    @Test func `are removed with the erasure of their users at once, not those of new users with the names`() throws {
        let log = try TestLog()
        try log.send(.init(sender: "bob"))
        _ = try set(ProfileSettings(name: "Bob", avatar: "https://x/y"), of: "bob", log)
        var erasure = try log.submission(.user(UserID("bob"), .erase), by: "root", isAdmin: true)
        erasure.room = nil
        _ = try log.outcome(erasure).get()
        #expect(try profiles("bob", log: log) == [])
        #expect(try set(ProfileSettings(name: "New"), of: "bob", log).isNew)
        try waitUntil {
            let bob = try? UserID("bob")
            let status: ErasureStatus?? = try? log.read(for: "root", isAdmin: true) { .server(.erasure(bob!, $0)) }
            return status??.state == .erased
        }
        #expect(try profiles("bob", log: log).map(\.name) == ["New"])
    }

    @Test func `are not set or read by a user who is banned from the server`() throws {
        let log = try TestLog()
        var ban = try log.submission(.user(UserID("bob"), .ban(BanSettings(scope: .all))), by: "root", isAdmin: true)
        ban.room = nil
        _ = try log.outcome(ban).get()
        #expect(throws: Problem.self) { try set(ProfileSettings(name: "Bob"), of: "bob", log) }
        #expect(throws: Problem.self) { try profiles("bob", log: log, for: "bob") }
        #expect(try profiles("bob", log: log) == [])
    }

    @Test func `are found by a search`() throws {
        let log = try TestLog()
        var query = Profile.select
        for index in (1...Limits.profiles).reversed() { query = query.replacing("$\(index)", with: "'u\(index)'") }
        #expect(try log.scans(query) == [])
    }
}
