package import Chat
package import Wire

/// The read marks of a commit that one statement moves together, see `PostgresConnection.store(_:engaging:revocations:at:)`.
///
/// A mark takes part under the conditions of a send, see ``SendBatch``. It does not take part if it comes after another
/// submission to its room, which may store the message that was read.
package struct MarkBatch {
    /// A user's mark in a room, and the submissions that move it.
    package struct Mark {
        package let person: KnownRooms.Person
        package let id: RoomID
        /// The number of restrictions in the room for which the decision holds.
        package let access: Int64
        /// The highest `seq` that one of them has.
        package var seq: Int64
        /// The submission with that `seq`.
        package var ticket: Ticket
        /// The others.
        package var others: [Ticket] = []
    }

    /// The marks, in the order in which the statement locks them, so that two nodes do not wait for each other.
    package private(set) var marks: [Mark] = []

    /// Decides which submissions take part.
    package init(_ submissions: ArraySlice<Submission>, knowing known: KnownRooms, bans: BanTable, erasing: Set<UserID>)
    {
        var left: Set<RoomID> = []
        var indices: [KnownRooms.Person: Int] = [:]
        for submission in submissions {
            let user = submission.sender
            // A change of a user may concern every room.
            guard let id = submission.room else { break }
            guard case .read(let seq) = submission.change, seq > 0, !left.contains(id),
                let room = known.room(
                    permitting: submission, bans: bans.bans(of: user, in: id), erasing: erasing),
                room.facts.head > 0
            else {
                left.insert(id)
                continue
            }
            let person = KnownRooms.Person(room: room.number, user: user)
            guard let index = indices[person] else {
                indices[person] = marks.count
                marks.append(
                    Mark(person: person, id: id, access: room.access, seq: seq, ticket: submission.ticket))
                continue
            }
            if seq > marks[index].seq {
                marks[index].others.append(marks[index].ticket)
                (marks[index].seq, marks[index].ticket) = (seq, submission.ticket)
            } else {
                marks[index].others.append(submission.ticket)
            }
        }
        marks.sort { ($0.person.user.string, $0.person.room) < ($1.person.user.string, $1.person.room) }
    }

    /// The position of a mark after the batch, and true if the batch has moved it.
    package typealias Moved = (seq: Int64, hasMoved: Bool)

    /// Returns the outcomes of the submissions that were stored.
    ///
    /// - Parameter moved: The statement's answer for each mark; `nil` for one that it has left.
    package func outcomes(_ moved: [Moved?]) -> [Outcome] {
        zip(marks, moved).flatMap { mark, moved -> [Outcome] in
            guard let moved else { return [] }
            return [
                Outcome(
                    ticket: mark.ticket, result: .success(.readMark(seq: moved.seq, hasMoved: moved.hasMoved)))
            ]
                + mark.others.map { Outcome(ticket: $0, result: .success(.readMark(seq: moved.seq, hasMoved: false))) }
        }
    }
}
