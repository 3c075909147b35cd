package import Chat
package import Wire

/// The sends of a commit that one statement stores together, see `PostgresConnection.store(_:revocations:at:)`.
///
/// A send takes part if the rules permit it by what the node knows. The other submissions, and the later ones of their rooms,
/// are left to `Commit`. So the submissions of a room keep their order, except that read marks and trials do not delay sends.
package struct SendBatch {
    /// A send's room, sender and client message id, which no other message has.
    package struct Key: Hashable {
        package var room: Int64
        package var sender: UserID
        package var id: String
    }

    /// A room, and its sends by their indices in ``SendBatch/sends``.
    package struct Room {
        package let id: RoomID
        package let number: Int64
        /// The number of restrictions for which the decisions hold.
        package let access: Int64
        package var sends: [Int]
    }

    /// The state of a room before the batch was stored, and the time of its messages.
    package struct Stored: Equatable {
        package var head: Int64
        package var rev: Int64
        package var time: Timestamp

        /// Creates a state.
        package init(head: Int64, rev: Int64, time: Timestamp) {
            self.head = head
            self.rev = rev
            self.time = time
        }
    }

    /// The sends, in the order of submission.
    package private(set) var sends: [(submission: Submission, draft: Draft)] = []
    /// The rooms, by number. The statement locks them in this order, so that two nodes do not wait for each other.
    package private(set) var rooms: [Room] = []
    /// The senders who may be members that are not marked as engaged.
    package private(set) var newlyEngaged: Set<KnownRooms.Person> = []

    /// Decides which submissions take part.
    ///
    /// - Parameters:
    ///   - repeated: Client message ids that are known to have been used. Their sends do not take part.
    ///   - bans: The sends of a user with any ban, even an expired one, do not take part: only the database knows the
    ///     time.
    ///   - erasing: The users who are being erased. Their sends do not take part.
    package init(
        _ submissions: ArraySlice<Submission>, knowing known: KnownRooms, repeated: Set<Key> = [], bans: BanTable,
        erasing: Set<UserID>
    ) {
        var left: Set<RoomID> = []
        var keys: Set<Key> = []
        var indices: [RoomID: Int] = [:]
        for submission in submissions {
            // A change of a user may concern every room.
            guard let id = submission.room else { break }
            // It stores nothing, so it does not delay sends.
            if submission.isTrial { continue }
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
    package var keys: [Key] {
        rooms.flatMap { room in
            room.sends.compactMap { index in
                let (submission, draft) = sends[index]
                return draft.clientMessageID.map { Key(room: room.number, sender: submission.sender, id: $0) }
            }
        }
    }

    // MARK: The result

    /// Returns the outcomes of the sends that were stored, in the order of submission, and the batches for subscribers.
    ///
    /// - Parameter stored: The statement's answer for each room; `nil` for one in which it has stored nothing.
    package func results(_ stored: [Stored?]) -> (outcomes: [Outcome], batches: [Batch]) {
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

/// The answer to a ``SendBatch``.
package enum SendAnswer {
    /// The sends to these rooms are durable; `nil` for a room in which somebody has lost rights since its sends were
    /// decided.
    case stored([SendBatch.Stored?])
    /// Nothing was stored, because a client message id was used before.
    case repeated
}
