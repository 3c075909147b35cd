import Chat
import Wire

/// A writer's cache of rooms and their members. It decides which submissions a ``SendBatch`` may contain.
///
/// The cache is valid for one number of revocations (``AccessState``). As long as nobody loses access, known members
/// stay members, and known rooms are not deleted. Anything else is looked up.
struct KnownRooms {
    /// A room that is not deleted.
    struct Room: Equatable {
        /// Its number in the database.
        var number: Int64
        /// A `seq` that it has reached.
        var head: Int64
        /// True if only members may use it. It may have become public since.
        var isPrivate: Bool
    }

    /// A user in a room with this number.
    struct Person: Hashable {
        var room: Int64
        var user: UserID
    }

    /// A send's room and sender, which ``SendStatements`` look up together.
    struct Question: Hashable {
        var room: RoomID
        var user: UserID
    }

    /// The state of a room, and the membership of the user.
    struct Answer {
        var question: Question
        var room: Room
        var isDeleted: Bool
        var isMember: Bool
    }

    /// The number of revocations for which the cache is valid.
    private(set) var revocations: Int64 = -1
    /// Maximum number of rooms, and of users in rooms. Beyond it the cache is emptied before the next batch.
    let limit: Int
    private var rooms: [RoomID: Room] = [:]
    /// Members of private rooms.
    private var members: Set<Person> = []
    /// Users who are not members, or whose membership is marked as engaged.
    private var engaged: Set<Person> = []

    /// Creates an empty cache.
    init(limit: Int = 100_000) {
        self.limit = limit
    }

    /// Prepares the cache for a batch. Empties it if access has been taken away since the last batch, or if it is full.
    mutating func begin(revocations: Int64) {
        guard revocations != self.revocations || rooms.count > limit || members.count + engaged.count > limit else {
            return
        }
        self.revocations = revocations
        rooms = [:]
        members = []
        engaged = []
    }

    /// Returns a room; `nil` if it is not known.
    subscript(_ id: RoomID) -> Room? { rooms[id] }

    /// Returns a room that a user is known to have access to; `nil` if that has to be looked up.
    func room(_ id: RoomID, for user: UserID, isAdmin: Bool) -> Room? {
        guard let room = rooms[id] else { return nil }
        if room.isPrivate, !isAdmin, !members.contains(Person(room: room.number, user: user)) { return nil }
        return room
    }

    /// Returns the room of a send that is known to be permitted; `nil` if that has to be looked up.
    func room(_ id: RoomID, permitting draft: Draft, by user: UserID, isAdmin: Bool) -> Room? {
        guard let room = room(id, for: user, isAdmin: isAdmin) else { return nil }
        if let replyTo = draft.content.replyTo, replyTo > room.head { return nil }
        return room
    }

    /// Returns true if a sender's membership, if any, is known to be marked as engaged.
    func isEngaged(_ person: Person) -> Bool { engaged.contains(person) }

    /// Returns what must be looked up for the sends and read marks among submissions, each once.
    func questions(for submissions: ArraySlice<Submission>) -> [Question] {
        var questions: Set<Question> = []
        for submission in submissions {
            guard let id = submission.room, submission.isBatched else { continue }
            let (user, isAdmin) = (submission.sender, submission.isAdmin)
            let known =
                switch submission.change {
                case .send(let draft): room(id, permitting: draft, by: user, isAdmin: isAdmin)
                default: room(id, for: user, isAdmin: isAdmin)
                }
            if known == nil { questions.insert(Question(room: id, user: user)) }
        }
        return Array(questions)
    }

    /// Adds what has been looked up.
    mutating func add(_ answers: [Answer]) {
        for answer in answers {
            rooms[answer.question.room] = answer.isDeleted ? nil : answer.room
            guard answer.isMember, answer.room.isPrivate else { continue }
            members.insert(Person(room: answer.room.number, user: answer.question.user))
        }
    }

    /// Adds what follows from a batch that has been stored.
    mutating func add(_ batch: SendBatch, _ stored: [SendBatch.Stored]) {
        for (room, stored) in zip(batch.rooms, stored) { rooms[room.id]?.head = stored.head + Int64(room.sends.count) }
        engaged.formUnion(batch.newlyEngaged)
    }

    /// Adds people whose membership, if any, has been marked as engaged.
    mutating func add(engaged people: [Person]) {
        engaged.formUnion(people)
    }
}

extension Submission {
    /// True for the kinds of submission that one statement can store together: sends and read marks.
    var isBatched: Bool {
        switch change {
        case .send, .read: true
        case .change, .room, .user: false
        }
    }
}
