package import Chat
package import Wire

/// A writer's cache of facts about rooms and their members, by which ``SendBatch`` and ``MarkBatch`` ask the rules which
/// submissions they may contain.
///
/// As long as nobody loses a right, the rules still permit everything that they have permitted by these facts. So the
/// cache is valid for one number of revocations (``AccessState``), and each room for its number of access, which the
/// statement compares that stores a batch. Anything else is looked up.
package struct KnownRooms {
    /// A room.
    package struct Room: Equatable {
        /// Its number in the database.
        package var number: Int64
        /// The number of restrictions in it, for which the facts hold.
        package var access: Int64 = 0
        /// Its state. It has reached this `seq`, and may have become open since.
        package var facts: RoomFacts

        /// Creates a room.
        package init(number: Int64, access: Int64 = 0, facts: RoomFacts) {
            self.number = number
            self.access = access
            self.facts = facts
        }
    }

    /// A user in a room with this number.
    package struct Person: Hashable {
        package var room: Int64
        package var user: UserID
    }

    /// A send's room and sender, which a statement looks up together.
    package struct Question: Hashable {
        package var room: RoomID
        package var user: UserID
    }

    /// The state of a room, and the role of the user.
    package struct Answer {
        package var question: Question
        package var room: Room
        package var role: RoomMember.Role?

        /// Creates an answer.
        package init(question: Question, room: Room, role: RoomMember.Role?) {
            self.question = question
            self.room = room
            self.role = role
        }
    }

    /// The number of revocations for which the cache is valid.
    package private(set) var revocations: Int64 = -1
    /// Maximum number of rooms, and of users in rooms. Beyond it the cache is emptied before the next batch.
    package let limit: Int
    private var rooms: [RoomID: Room] = [:]
    /// The roles of members in rooms where the rules ask for them.
    private var roles: [Person: RoomMember.Role] = [:]
    /// Users who are not members, or whose membership is marked as engaged.
    private var engaged: Set<Person> = []

    private let policy: Facts.Policy

    /// Creates an empty cache.
    package init(_ policy: Facts.Policy = Facts.Policy(), limit: Int = 100_000) {
        self.policy = policy
        self.limit = limit
    }

    /// Prepares the cache for a batch. Empties it if access has been taken away since the last batch, or if it is full.
    package mutating func begin(revocations: Int64) {
        guard revocations != self.revocations || rooms.count > limit || roles.count + engaged.count > limit else {
            return
        }
        self.revocations = revocations
        rooms = [:]
        roles = [:]
        engaged = []
    }

    /// Returns a room; `nil` if it is not known.
    package subscript(_ id: RoomID) -> Room? { rooms[id] }

    /// Returns the room of a send or read mark that the rules permit by what is known; `nil` if that has to be looked up.
    package func room(
        permitting submission: Submission, bans: [BanTable.Key: Ban] = [:], erasing: Set<UserID> = []
    ) -> Room? {
        guard let id = submission.room, let room = rooms[id] else { return nil }
        // The database assigns the time.
        var facts = Facts(at: nil, policy, erasing: erasing, bans: bans)
        facts.room = room.facts
        if room.facts.asksForRole, let role = roles[Person(room: room.number, user: submission.sender)] {
            facts.role = role
        }
        return Decision.permits(submission, facts) ? room : nil
    }

    /// Returns true if a sender's membership, if any, is known to be marked as engaged.
    package func isEngaged(_ person: Person) -> Bool { engaged.contains(person) }

    /// Returns what must be looked up for the sends and read marks among submissions, each once.
    package func questions(for submissions: ArraySlice<Submission>) -> [Question] {
        var questions: Set<Question> = []
        for submission in submissions {
            guard let id = submission.room, submission.isBatched, room(permitting: submission) == nil else { continue }
            questions.insert(Question(room: id, user: submission.sender))
        }
        return Array(questions)
    }

    /// Adds what has been looked up.
    package mutating func add(_ answers: [Answer]) {
        for answer in answers {
            rooms[answer.question.room] = answer.room.facts.isDeleted ? nil : answer.room
            guard answer.room.facts.asksForRole else { continue }
            roles[Person(room: answer.room.number, user: answer.question.user)] = answer.role
        }
    }

    /// Adds what follows from a batch of which a statement has stored some rooms.
    package mutating func add(_ batch: SendBatch, _ stored: [SendBatch.Stored?]) {
        for (room, stored) in zip(batch.rooms, stored) {
            guard let stored else {
                rooms[room.id] = nil
                continue
            }
            rooms[room.id]?.facts.head = stored.head + Int64(room.sends.count)
            rooms[room.id]?.facts.rev = stored.rev + Int64(room.sends.count)
        }
        engaged.formUnion(batch.newlyEngaged)
    }

    /// Removes rooms whose facts no longer hold.
    package mutating func forget(_ forgotten: some Sequence<RoomID>) {
        for room in forgotten { rooms[room] = nil }
    }

    /// Adds people whose membership, if any, has been marked as engaged.
    package mutating func add(engaged people: [Person]) {
        engaged.formUnion(people)
    }
}
