import Chat
import Testing
import Wire

@Suite("A decision")
struct DecisionTests {
    private let time = Timestamp(milliseconds: 1_700_000_000_000)
    private let room = try! RoomID("lobby")
    private let alice = try! UserID("alice")

    private func submission(_ change: Submission.Change, isAdmin: Bool = false) -> Submission {
        Submission(
            ticket: Ticket(loop: 0, number: 1), room: room, sender: alice, change: change, isAdmin: isAdmin)
    }

    private func send(id: String? = nil, replyTo: Int64? = nil) -> Submission {
        submission(.send(Draft(clientMessageID: id, content: Content(text: "hello", replyTo: replyTo))))
    }

    private func facts(
        _ room: RoomFacts?, at time: Timestamp? = Timestamp(milliseconds: 1_700_000_000_000),
        erasing: Set<UserID> = [], bans: [BanTable.Key: Ban] = [:]
    ) -> Facts {
        var facts = Facts(at: time, Facts.Policy(), erasing: erasing, bans: bans)
        facts.room = room
        return facts
    }

    private func missing(_ submission: Submission, _ facts: Facts) -> Facts.Names? {
        do throws(Decision.Lacking) {
            _ = try Decision.make(on: submission, facts)
            return nil
        } catch {
            return error.names
        }
    }

    @Test func `asks for the facts that it needs, in two steps`() {
        let open = facts(RoomFacts(head: 3, rev: 3))
        #expect(missing(send(), Facts(at: time, Facts.Policy())) == .room)
        #expect(missing(send(), open) == nil)
        #expect(missing(send(id: "1"), open) == .first)
        #expect(missing(send(id: "1"), facts(RoomFacts(isPrivate: true))) == .role)
        #expect(missing(submission(.read(seq: 1)), open) == .mark)
        #expect(missing(submission(.change(MessageChange(seq: 1, action: .delete))), open) == .message)
        let reaction = MessageChange(seq: 1, action: .addReaction(try! ReactionKey("+1")))
        #expect(missing(submission(.change(reaction)), open) == [.message, .reaction])
        #expect(
            missing(submission(.change(MessageChange(seq: 1, action: .pin))), open) == [.message, .hasMaximumPins])
        #expect(missing(submission(.room(.setMember(UserID.deleted, nil))), open) == [.role, .subjectRole])
        #expect(missing(submission(.room(.delete), isAdmin: true), open) == nil)
        #expect(missing(send(), facts(RoomFacts(), erasing: [alice])) == .past)
    }

    @Test func `gives a message the next seq and revision, and no time before that of the newest message`() throws {
        for (latest, expected) in [
            (time.milliseconds - 5, time.milliseconds), (time.milliseconds + 5, time.milliseconds + 5),
        ] {
            let room = RoomFacts(head: 3, rev: 7, latest: Timestamp(milliseconds: latest))
            let decision = try Decision.make(on: send(), facts(room))
            let message = try #require(decision.message)
            #expect(decision.writes.isEmpty)
            #expect(message.stored.seq == 4 && message.stored.rev == 8)
            #expect(message.createdAt == Timestamp(milliseconds: expected))
            #expect(try decision.result.get() == .message(message.stored, isNew: true))
        }
    }

    @Test func `lets the last message into a room, and no further one or change`() throws {
        let last = RoomFacts.maximumOrdinal
        let full = Problem.unavailable("The room is full.")
        #expect(try Decision.make(on: send(), facts(RoomFacts(head: last - 1, rev: last - 1))).result.get().isNew)
        for room in [RoomFacts(head: last, rev: last), RoomFacts(head: 1, rev: last)] {
            let decision = try Decision.make(on: send(), facts(room))
            #expect(decision.result == .failure(full) && decision.message == nil)
        }
        let change = submission(.change(MessageChange(seq: 1, action: .delete)))
        #expect(try Decision.make(on: change, facts(RoomFacts(head: 1, rev: last))).result == .failure(full))
        let message = Message(
            room: room, seq: 1, rev: 1, sender: alice, content: Content(text: "hello"), createdAt: time)
        #expect(Decision(expiring: message, [], in: RoomFacts(head: 1, rev: last)) == nil)
        #expect(Decision(erasing: message, [], of: alice, in: RoomFacts(head: 1, rev: last)) == nil)
    }

    @Test func `permits sends and marks without the time and what a database finds out by itself`() throws {
        let open = facts(RoomFacts(head: 3), at: nil)
        #expect(Decision.permits(send(id: "1", replyTo: 3), open))
        #expect(Decision.permits(submission(.read(seq: 9)), open))
        #expect(!Decision.permits(send(replyTo: 4), open))
        #expect(!Decision.permits(submission(.send(Draft(content: Content(text: "1"), expectHead: 3))), open))
        #expect(!Decision.permits(send(), facts(nil, at: nil)))
        #expect(!Decision.permits(send(), facts(RoomFacts(isDeleted: true), at: nil)))
        #expect(!Decision.permits(send(), Facts(at: nil, Facts.Policy())))
        var closed = facts(RoomFacts(isPrivate: true), at: nil)
        #expect(!Decision.permits(send(), closed))
        closed.role = nil
        #expect(!Decision.permits(send(), closed))
        closed.role = .member
        #expect(Decision.permits(send(), closed))
        for room in [RoomFacts(posting: .owners), RoomFacts(slowSeconds: 1)] {
            var limited = facts(room, at: nil)
            #expect(!Decision.permits(send(), limited))
            #expect(Decision.permits(submission(.read(seq: 9)), limited))
            limited.role = .member
            #expect(!Decision.permits(send(), limited))
            limited.role = .owner
            #expect(Decision.permits(send(), limited))
        }
        let ban = Ban(user: alice, scope: .send, until: time, by: alice, createdAt: .earliest)
        #expect(
            !Decision.permits(send(), facts(RoomFacts(), at: nil, bans: [BanTable.Key(room: nil, user: alice): ban])))
        var erased = facts(RoomFacts(), at: nil, erasing: [alice])
        #expect(!Decision.permits(send(), erased))
        erased.past = Facts.Past(boundary: nil)
        #expect(!Decision.permits(send(), erased))
    }

    @Test func `permits nothing that one statement cannot store with others`() {
        let open = facts(RoomFacts(head: 3), at: nil)
        var mention = Content(text: "hello")
        mention.mentions.users = [alice]
        var rewritten = Draft(content: Content(text: "hello"))
        rewritten.original = mention
        var trial = send()
        trial.isTrial = true
        let others = [
            submission(.change(MessageChange(seq: 1, action: .delete))), submission(.room(.set(RoomSettings()))),
            submission(.room(.delete), isAdmin: true), submission(.user(alice, .erase), isAdmin: true),
            submission(.send(Draft(content: mention))), submission(.send(rewritten)), trial,
        ]
        for submission in others { #expect(!submission.isBatched && !Decision.permits(submission, open)) }
    }

    @Test func `takes rights away by stricter manners, not by milder ones`() {
        func isRestriction(_ settings: RoomSettings) -> Bool {
            Write.setRoom(settings, endsAccess: false).isRestriction
        }
        #expect(isRestriction(RoomSettings(posting: .owners)) && !isRestriction(RoomSettings(posting: .members)))
        #expect(isRestriction(RoomSettings(slowSeconds: 1)) && !isRestriction(RoomSettings(slowSeconds: 0)))
        #expect(isRestriction(RoomSettings(visibility: .private)) && !isRestriction(RoomSettings(visibility: .open)))
        #expect(!isRestriction(RoomSettings(title: "The room")))
    }

    @Test(arguments: [(0, 10), (1, 10), (9001, 1), (9999, 1), (10_000, nil), (-5, 10), (-9999, 10), (-10_000, nil)])
    func `makes a user wait between two messages in slow mode, not longer if the clock was set back`(
        passed: Int64, wait: Int?
    ) throws {
        var facts = facts(RoomFacts(head: 1, rev: 1, slowSeconds: 10))
        #expect(missing(send(), facts) == .role)
        facts.role = .member
        #expect(missing(send(), facts) == .lastSend)
        facts.lastSend = Timestamp(milliseconds: time.milliseconds - passed)
        let decision = try Decision.make(on: send(), facts)
        if let wait {
            #expect(decision.result == .failure(.slowMode(retryAfter: wait)) && decision.writes.isEmpty)
        } else if case .noteSend(alice, time)? = decision.writes.first {
            #expect(try decision.result.get().isNew)
        } else {
            Issue.record("\(decision)")
        }
        facts.role = .owner
        #expect(try Decision.make(on: send(), facts).writes.isEmpty)
    }

    @Test func `removes the old user's name from the title when an erased user comes back`() throws {
        var facts = facts(RoomFacts(head: 3, rev: 5), erasing: [alice])
        facts.past = Facts.Past(isMember: true, title: "for alice and alicent")
        let writes = try Decision.make(on: send(), facts).writes
        guard case .setRoom(let settings, endsAccess: false) = writes[0], case .removeMember(alice) = writes[1],
            case .setNotify(alice, nil) = writes[2], case .removeMark(alice) = writes[3],
            case .setBoundary(alice, let boundary) = writes[4]
        else {
            Issue.record("\(writes)")
            return
        }
        #expect(settings == RoomSettings(title: "for ~deleted and alicent"))
        #expect(boundary == Facts.Boundary(seq: 3, rev: 5))
        #expect(writes[1].accessEnd(in: room) == .removed(alice, from: room))
        #expect(writes[1].membershipChange(in: room) == MembershipChange(user: alice, room: room, kind: .left))
    }
}
