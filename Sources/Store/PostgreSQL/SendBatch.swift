import Chat
import Wire

/// The sends of a commit that one statement stores together, see ``SendStatements``.
///
/// A send takes part if the rules permit it by what the node knows. The other submissions, and the later ones of their rooms,
/// are left to ``Commit``. So the submissions of a room keep their order, except that a read mark does not delay sends.
struct SendBatch {
    /// A send's room, sender and client message id, which no other message has.
    struct Key: Hashable {
        var room: Int64
        var sender: UserID
        var id: String
    }

    /// A room, and its sends by their indices in ``SendBatch/sends``.
    struct Room {
        let id: RoomID
        let number: Int64
        var sends: [Int]
    }

    /// The state of a room before the batch was stored, and the time of its messages.
    struct Stored: Equatable {
        var head: Int64
        var rev: Int64
        var time: Timestamp
    }

    /// The sends, in the order of submission.
    private(set) var sends: [(submission: Submission, draft: Draft)] = []
    /// The rooms, by number. The statement locks them in this order, so that two nodes do not wait for each other.
    private(set) var rooms: [Room] = []
    /// The submissions that are left, in order.
    private(set) var rest: [Submission] = []
    /// The senders who may be members that are not marked as engaged.
    private(set) var newlyEngaged: Set<KnownRooms.Person> = []

    /// Decides which submissions take part.
    ///
    /// - Parameters:
    ///   - repeated: Client message ids that are known to have been used. Their sends do not take part.
    ///   - bans: The sends of a user with any ban, even an expired one, do not take part: only the database knows the
    ///     time.
    ///   - erasing: The users who are being erased. Their sends do not take part.
    init(
        _ submissions: ArraySlice<Submission>, knowing known: KnownRooms, repeated: Set<Key> = [], bans: BanTable,
        erasing: Set<UserID>
    ) {
        var left: Set<RoomID> = []
        var keys: Set<Key> = []
        var indices: [RoomID: Int] = [:]
        // A change of a user may concern every room.
        var leavesAll = false
        for submission in submissions {
            guard let id = submission.room, !leavesAll else {
                leavesAll = true
                rest.append(submission)
                continue
            }
            guard case .send(let draft) = submission.change else {
                if case .read = submission.change {} else { left.insert(id) }
                rest.append(submission)
                continue
            }
            let user = submission.sender
            guard !left.contains(id),
                let room = known.room(
                    permitting: submission, bans: bans.bans(of: user, in: id), erasing: erasing)
            else {
                left.insert(id)
                rest.append(submission)
                continue
            }
            if let clientMessageID = draft.clientMessageID {
                let key = Key(room: room.number, sender: user, id: clientMessageID)
                // A repeated send is answered and stores nothing, so it does not delay later ones.
                guard !repeated.contains(key), keys.insert(key).inserted else {
                    rest.append(submission)
                    continue
                }
            }
            if let index = indices[id] {
                rooms[index].sends.append(sends.count)
            } else {
                indices[id] = rooms.count
                rooms.append(Room(id: id, number: room.number, sends: [sends.count]))
            }
            let person = KnownRooms.Person(room: room.number, user: user)
            if !known.isEngaged(person) { newlyEngaged.insert(person) }
            sends.append((submission, draft))
        }
        rooms.sort { $0.number < $1.number }
    }

    /// The client message ids of its sends.
    var keys: [Key] {
        rooms.flatMap { room in
            room.sends.compactMap { index in
                let (submission, draft) = sends[index]
                return draft.clientMessageID.map { Key(room: room.number, sender: submission.sender, id: $0) }
            }
        }
    }

    // MARK: The statement

    /// Returns the parameters of the statement that stores the batch.
    ///
    /// - Parameters:
    ///   - revocations: The number of revocations for which the decisions hold.
    ///   - time: The time of the messages; `nil` for the database's.
    func parameters(revocations: Int64, at time: Timestamp?) -> PostgresParameters {
        var numbers: [Int64] = []
        var counts: [Int64] = []
        var bytes: [Int64] = []
        var indices: [Int64] = []
        var places: [Int64] = []
        indices.reserveCapacity(sends.count)
        places.reserveCapacity(sends.count)
        var senders = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 16)
        var ids = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 40)
        var firsts = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 48)
        var rests = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 256)
        var body: [UInt8] = []
        for (index, room) in rooms.enumerated() {
            var count = 0
            for (place, send) in room.sends.enumerated() {
                let (submission, draft) = sends[send]
                body.removeAll(keepingCapacity: true)
                Message.encode(
                    room: room.id, seq: 0, rev: 0, sender: submission.sender, draft: draft, createdAt: .earliest,
                    into: &body)
                let first = Self.opening + room.id.string.utf8.count + Self.beforeSeq
                let rest = first + 1 + Self.beforeRev + 1
                firsts.append(body[..<first])
                rests.append(body[rest..<body.count - Self.ending])
                senders.append(submission.sender.string)
                ids.append(draft.clientMessageID)
                indices.append(Int64(index + 1))
                places.append(Int64(place + 1))
                count += body.count - 2
            }
            numbers.append(room.number)
            counts.append(Int64(room.sends.count))
            bytes.append(Int64(count))
        }
        var parameters = PostgresParameters()
        parameters.append(numbers)
        parameters.append(counts)
        parameters.append(bytes)
        parameters.append(indices)
        parameters.append(places)
        parameters.append(senders.bytes, as: .textArray)
        parameters.append(ids.bytes, as: .textArray)
        parameters.append(firsts.bytes, as: .textArray)
        parameters.append(rests.bytes, as: .textArray)
        parameters.append(revocations)
        parameters.append(time.map { PostgresParameters.bytes(of: $0.milliseconds) }, as: .integer)
        return parameters
    }

    // The bytes around the numbers and the time of a snapshot, see `Message.encode`: `{"room":"`, `","seq":`,
    // `,"rev":`, and the time with `"}`.
    private static let opening = 9
    private static let beforeSeq = 8
    private static let beforeRev = 7
    private static let ending = 26

    // MARK: The result

    /// Returns the outcomes, in the order of submission, and the batches for subscribers.
    ///
    /// - Parameter stored: The statement's answer for each room.
    func results(_ stored: [Stored]) -> (outcomes: [Outcome], batches: [Batch]) {
        var messages: [StoredMessage?] = Array(repeating: nil, count: sends.count)
        var batches: [Batch] = []
        batches.reserveCapacity(rooms.count)
        for (room, stored) in zip(rooms, stored) {
            var facts = RoomFacts(head: stored.head, rev: stored.rev, latest: stored.time)
            var snapshots: [[UInt8]] = []
            snapshots.reserveCapacity(room.sends.count)
            for send in room.sends {
                let (submission, draft) = sends[send]
                // The statement stores nothing in a room that would be full.
                let message = facts.append(draft, by: submission.sender, to: room.id, at: stored.time)!.stored
                messages[send] = message
                snapshots.append(message.body)
            }
            batches.append(Batch(room: room.id, firstRev: stored.rev + 1, head: facts.head, messages: snapshots))
        }
        let outcomes = zip(sends, messages).map { send, message in
            // Each send is in one room.
            Outcome(ticket: send.submission.ticket, result: .success(.message(message!, isNew: true)))
        }
        return (outcomes, batches)
    }
}
