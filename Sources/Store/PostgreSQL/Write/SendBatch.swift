import Chat
import Wire

/// The sends of a commit that one statement stores together, see ``PostgresConnection/store(_:revocations:at:)``.
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
        /// The number of restrictions for which the decisions hold.
        let access: Int64
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
        for submission in submissions {
            // A change of a user may concern every room.
            guard let id = submission.room else { break }
            guard case .send(let draft) = submission.change else {
                if case .read = submission.change {} else { left.insert(id) }
                continue
            }
            let user = submission.sender
            guard !left.contains(id),
                let room = known.room(
                    permitting: submission, bans: bans.bans(of: user, in: id), erasing: erasing)
            else {
                left.insert(id)
                continue
            }
            if let clientMessageID = draft.clientMessageID {
                let key = Key(room: room.number, sender: user, id: clientMessageID)
                // A repeated send is answered and stores nothing, so it does not delay later ones.
                guard !repeated.contains(key), keys.insert(key).inserted else { continue }
            }
            if let index = indices[id] {
                rooms[index].sends.append(sends.count)
            } else {
                indices[id] = rooms.count
                rooms.append(Room(id: id, number: room.number, access: room.access, sends: [sends.count]))
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
        var bytes: [Int64] = []
        var indices: [Int64] = []
        var items: [Int64] = []
        indices.reserveCapacity(sends.count)
        items.reserveCapacity(sends.count)
        var senders = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 16)
        var ids = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 40)
        var starts = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 48)
        var rests = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 256)
        let fixedBytes = Message.Pieces.beforeRev.count + Timestamp.byteCount + Message.Pieces.afterTime.count
        for (index, room) in rooms.enumerated() {
            var count = 0
            for (item, send) in room.sends.enumerated() {
                let (submission, draft) = sends[send]
                let pieces = Message.Pieces(room: room.id, sender: submission.sender, draft: draft)
                starts.append(pieces.beforeSeq[...])
                rests.append(pieces.afterRev[...])
                senders.append(submission.sender.string)
                ids.append(draft.clientMessageID)
                indices.append(Int64(index + 1))
                items.append(Int64(item + 1))
                count += pieces.beforeSeq.count + pieces.afterRev.count + fixedBytes
            }
            bytes.append(Int64(count))
        }
        var parameters = PostgresParameters()
        parameters.append(rooms.map(\.number))
        parameters.append(rooms.map(\.access))
        parameters.append(rooms.map { Int64($0.sends.count) })
        parameters.append(bytes)
        parameters.append(indices)
        parameters.append(items)
        for texts in [senders, ids, starts, rests] { parameters.append(texts.bytes, as: .textArray) }
        parameters.append(Message.Pieces.beforeRev, as: .text)
        parameters.append(Message.Pieces.afterTime, as: .text)
        parameters.append(time.map { PostgresParameters.bytes(of: $0.milliseconds) }, as: .integer)
        parameters.append(revocations)
        return parameters
    }

    // MARK: The result

    /// Returns the outcomes of the sends that were stored, in the order of submission, and the batches for subscribers.
    ///
    /// - Parameter stored: The statement's answer for each room; `nil` for one in which it has stored nothing.
    func results(_ stored: [Stored?]) -> (outcomes: [Outcome], batches: [Batch]) {
        var messages: [StoredMessage?] = Array(repeating: nil, count: sends.count)
        var batches: [Batch] = []
        batches.reserveCapacity(rooms.count)
        for case (let room, let stored?) in zip(rooms, stored) {
            var facts = RoomFacts(head: stored.head, rev: stored.rev, latest: stored.time)
            var snapshots: [[UInt8]] = []
            snapshots.reserveCapacity(room.sends.count)
            for send in room.sends {
                let (submission, draft) = sends[send]
                // The rules permit no batch in a room that is nearly full.
                let message = facts.append(draft, by: submission.sender, to: room.id, at: stored.time)!.stored
                messages[send] = message
                snapshots.append(message.body)
            }
            batches.append(Batch(room: room.id, firstRev: stored.rev + 1, head: facts.head, messages: snapshots))
        }
        let outcomes = zip(sends, messages).compactMap { send, message in
            message.map { Outcome(ticket: send.submission.ticket, result: .success(.message($0, isNew: true))) }
        }
        return (outcomes, batches)
    }
}
