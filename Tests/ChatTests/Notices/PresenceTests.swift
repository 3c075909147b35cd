import TestSupport
import Testing
import Wire

@testable import Chat

@Suite("Presence")
struct PresenceTests {
    private let alice = try! UserID("alice")
    private let bob = try! UserID("bob")
    private let lobby = try! RoomID("lobby")
    private let start = ContinuousClock.Instant.now

    private func flush(_ presence: Presence, at seconds: Int) -> ([String], again: Bool) {
        let (changes, again) = presence.flush(at: start + .seconds(seconds))
        return (changes.map { "\($0.room) \($0.online)" }, again)
    }

    @Test func `counts each user once, and each subscriber without a name, while a socket is open`() {
        let presence = Presence()
        let users = [alice, alice, bob, nil, nil]
        var counts: [Int] = []
        for user in users {
            _ = presence.join(lobby, as: user)
            counts.append(presence.online(in: lobby))
        }
        for user in users {
            _ = presence.leave(lobby, as: user)
            counts.append(presence.online(in: lobby))
        }
        #expect(counts == [1, 1, 2, 3, 4, 4, 3, 2, 1, 0])
        #expect(!presence.leave(lobby, as: alice))
    }

    @Test func `requests one flush for all rooms whose number has changed`() throws {
        let presence = Presence()
        let (red, green) = (try RoomID("red"), try RoomID("green"))
        #expect(presence.join(red, as: alice))
        #expect(!presence.join(red, as: bob))
        #expect(!presence.join(green, as: alice))
        #expect(flush(presence, at: 1) == (["red 2", "green 1"], false))
        // A second socket changes nothing.
        #expect(!presence.join(red, as: alice))
        #expect(!presence.leave(red, as: alice))
        #expect(flush(presence, at: 2) == ([], false))
        // An empty room has nobody to notify.
        #expect(!presence.leave(green, as: alice))
        #expect(presence.leave(red, as: bob))
        #expect(!presence.leave(red, as: alice))
        #expect(!presence.join(red, as: bob))
        #expect(flush(presence, at: 3) == (["red 1"], false))
    }

    @Test func `notifies large rooms less often, so that notices cause a thousand frames a second`() {
        let presence = Presence()
        for _ in 1...10_000 { _ = presence.join(lobby, as: nil) }
        #expect(flush(presence, at: 1) == (["lobby 10000"], false))
        #expect(presence.leave(lobby, as: nil))
        #expect(flush(presence, at: 2) == ([], true))
        #expect(!presence.leave(lobby, as: nil))
        #expect(flush(presence, at: 10) == ([], true))
        #expect(flush(presence, at: 11) == (["lobby 9998"], false))
    }

    @Test func `lists the users of small rooms by name`() throws {
        let presence = Presence()
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 0, users: []))
        for user in [bob, nil, alice, alice] { _ = presence.join(lobby, as: user) }
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 3, users: [alice, bob]))
        for number in 4...Presence.listedUsers { _ = presence.join(lobby, as: try UserID("user\(number)")) }
        #expect(presence.present(in: lobby).users?.count == Presence.listedUsers - 1)
        _ = presence.join(lobby, as: nil)
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 201, users: nil))
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `is exact at the end, whatever the order of joins and leaves`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let presence = Presence()
        let rooms = try ["a", "b", "c"].map { try RoomID($0) }
        // The number that each subscriber knows, from its own start and from flushes.
        var sockets: [(room: RoomID, user: UserID?, told: Int)] = []
        var isAwaited = false
        for second in 1...300 {
            for _ in 1...Int.random(in: 1...5, using: &generator) {
                if Bool.random(using: &generator), let index = sockets.indices.randomElement(using: &generator) {
                    let (room, user, _) = sockets.remove(at: index)
                    isAwaited = presence.leave(room, as: user) || isAwaited
                } else {
                    let room = rooms.randomElement(using: &generator)!
                    let user = [alice, bob, nil].randomElement(using: &generator)!
                    isAwaited = presence.join(room, as: user) || isAwaited
                    sockets.append((room, user, presence.online(in: room)))
                }
            }
            if isAwaited {
                let (changes, again) = presence.flush(at: start + .seconds(second))
                for (room, online) in changes {
                    for index in sockets.indices where sockets[index].room == room { sockets[index].told = online }
                }
                isAwaited = again
            }
            for room in rooms {
                let here = sockets.filter { $0.room == room }
                let online = Set(here.compactMap(\.user)).count + here.count { $0.user == nil }
                #expect(presence.online(in: room) == online)
                #expect(here.allSatisfy { $0.told == online })
            }
        }
    }

    private func report(_ online: Int, _ users: [UserID]?) -> PresenceReport {
        PresenceReport(room: lobby, online: online, users: users.map(Set.init))
    }

    @Test func `counts a user on several nodes once`() {
        let presence = Presence(isShared: true)
        // Nobody is here to notify.
        #expect(!presence.learn([report(3, [alice, bob])], of: "n2"))
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 3, users: [alice, bob]))
        #expect(presence.join(lobby, as: nil))
        #expect(!presence.join(lobby, as: alice))
        #expect(flush(presence, at: 1) == (["lobby 4"], false))
        #expect(presence.learn([report(1, [bob]), report(1, [alice])], of: "n3") == false)
        #expect(presence.learn([report(2, [bob, try! UserID("carol")])], of: "n3"))
        #expect(flush(presence, at: 2) == (["lobby 5"], false))
        #expect(presence.learn([report(0, [])], of: "n2"))
        #expect(flush(presence, at: 3) == (["lobby 4"], false))
        _ = presence.leave(lobby, as: alice)
        _ = presence.leave(lobby, as: nil)
        #expect(presence.online(in: lobby) == 2)
        #expect(!presence.keep(["n2"]))
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 0, users: []))
    }

    @Test func `stops counting a node that is gone`() {
        let presence = Presence(isShared: true)
        _ = presence.join(lobby, as: alice)
        _ = presence.learn([report(1, [bob])], of: "n2")
        #expect(flush(presence, at: 1) == (["lobby 2"], false))
        #expect(!presence.keep(["n2", "n3"]))
        #expect(presence.keep(["n3"]))
        #expect(flush(presence, at: 2) == (["lobby 1"], false))
        #expect(Presence.silence == .seconds(10))
    }

    @Test func `lists no users if a node has too many to list`() {
        let presence = Presence(isShared: true)
        _ = presence.join(lobby, as: alice)
        _ = presence.learn([report(201, nil)], of: "n2")
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 202, users: nil))
        _ = presence.learn([report(200, Array(repeating: bob, count: 1))], of: "n2")
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 201, users: nil))
        _ = presence.learn([report(1, [bob])], of: "n2")
        #expect(presence.present(in: lobby) == RoomPresence(room: lobby, online: 2, users: [alice, bob]))
    }

    @Test func `reports what has changed, and everything on request`() throws {
        let presence = Presence(isShared: true)
        let green = try RoomID("green")
        for user in [alice, alice, nil] { _ = presence.join(lobby, as: user) }
        _ = presence.join(green, as: bob)
        _ = presence.leave(green, as: bob)
        #expect(
            Set(presence.takeReports() ?? []) == [
                report(2, [alice]), PresenceReport(room: green, online: 0, users: []),
            ])
        _ = presence.learn([report(1, [bob])], of: "n2")
        _ = presence.leave(lobby, as: alice)
        #expect(presence.takeReports() == [])
        #expect(presence.takeAllReports() == [report(2, [alice])])
        for number in 1...200 { _ = presence.join(lobby, as: try UserID("user\(number)")) }
        #expect(presence.takeReports() == [report(202, nil)])
        // A server by itself keeps none.
        let alone = Presence()
        _ = alone.join(lobby, as: alice)
        #expect(alone.takeReports() == [])
    }

    @Test func `bounds the reports and listed users of other nodes, and forgets nodes that have left`() throws {
        #expect(Presence.defaultReportedLimit == 250_000 && Presence.unreportedLimit == 10_000)
        let presence = Presence(isShared: true, reportedLimit: 4)
        let (green, blue) = (try RoomID("green"), try RoomID("blue"))
        _ = presence.learn([report(2, [alice, bob])], of: "n2")
        // There is space for the report, but not for its user.
        _ = presence.learn([PresenceReport(room: green, online: 1, users: [alice])], of: "n3")
        #expect(presence.online(in: green) == 1 && presence.present(in: green).users == nil)
        _ = presence.learn([PresenceReport(room: blue, online: 1, users: nil)], of: "n3")
        #expect(presence.online(in: blue) == 0)
        // A report that replaces another takes its space.
        _ = presence.learn([report(2, [bob, alice]), report(1, [bob])], of: "n2")
        #expect(presence.present(in: lobby).users == [bob])
        _ = presence.learn([PresenceReport(room: blue, online: 1, users: nil)], of: "n3")
        #expect(presence.online(in: blue) == 1)
        _ = presence.keep(["n3"])
        #expect(presence.online(in: lobby) == 0)
        _ = presence.learn([PresenceReport(room: lobby, online: 1, users: [bob])], of: "n4")
        #expect(presence.present(in: lobby).users == [bob])
        _ = presence.keep([])
        for room in [lobby, green, blue] { #expect(presence.online(in: room) == 0) }
        let carol = try UserID("carol")
        _ = presence.learn([PresenceReport(room: green, online: 3, users: [alice, bob, carol])], of: "n5")
        #expect(presence.present(in: green).users?.count == 3)
    }

    @Test func `asks to report everything if too many rooms have changed`() throws {
        let presence = Presence(isShared: true)
        for number in 0...Presence.unreportedLimit { _ = presence.join(try RoomID("room\(number)"), as: nil) }
        #expect(presence.takeReports() == nil)
        #expect(presence.takeAllReports().count == Presence.unreportedLimit + 1)
        #expect(presence.takeReports() == [])
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `agrees on all nodes once reports have arrived`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let nodes = ["n1", "n2", "n3"].map { (name: $0, presence: Presence(isShared: true)) }
        let rooms = try ["a", "b"].map { try RoomID($0) }
        var sockets: [(node: Int, room: RoomID, user: UserID?)] = []
        for _ in 1...200 {
            for _ in 1...Int.random(in: 1...6, using: &generator) {
                if Bool.random(using: &generator), let index = sockets.indices.randomElement(using: &generator) {
                    let socket = sockets.remove(at: index)
                    _ = nodes[socket.node].presence.leave(socket.room, as: socket.user)
                } else {
                    let node = Int.random(in: 0..<3, using: &generator)
                    let room = rooms.randomElement(using: &generator)!
                    let user = [alice, bob, nil].randomElement(using: &generator)!
                    _ = nodes[node].presence.join(room, as: user)
                    sockets.append((node, room, user))
                }
            }
            for (name, presence) in nodes {
                let reports = presence.takeReports() ?? []
                // Some are lost.
                if Int.random(in: 0..<4, using: &generator) == 0 { continue }
                for other in nodes where other.name != name { _ = other.presence.learn(reports, of: name) }
            }
        }
        for node in nodes { _ = node.presence.keep([]) }
        for (name, presence) in nodes {
            let reports = presence.takeAllReports()
            for other in nodes where other.name != name { _ = other.presence.learn(reports, of: name) }
        }
        for room in rooms {
            let here = sockets.filter { $0.room == room }
            let online = Set(here.compactMap(\.user)).count + here.count { $0.user == nil }
            for (_, presence) in nodes { #expect(presence.online(in: room) == online) }
        }
    }
}
