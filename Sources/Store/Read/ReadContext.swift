import Chat
import Wire

/// The state that the reading threads of a log share, whichever its store.
final class ReadContext: Sendable {
    let epoch: String
    let bans: BanTable
    let configuration: StoreConfiguration
    let backlog: AnswerBacklog

    init(epoch: String, bans: BanTable, _ configuration: StoreConfiguration) {
        self.epoch = epoch
        self.bans = bans
        self.configuration = configuration
        backlog = AnswerBacklog(limit: configuration.waitingAnswerBytes)
    }

    /// Answers queries in one transaction, in order: at least one, and more until the answers reach
    /// ``StoreConfiguration/readBytes`` or the database fails.
    ///
    /// - Parameters:
    ///   - count: The number of queries that have been answered.
    ///   - answer: Answers the query at an index, from 0, and returns the number of bytes of messages in the answer.
    func answer(_ queries: ArraySlice<Query>, _ count: inout Int, _ answer: (Int, Query) throws -> Int) {
        var bytes = 0
        for (index, query) in queries.enumerated() where bytes < configuration.readBytes {
            count += 1
            do {
                let size = try answer(index, query)
                if let share = backlog.hold(size) { query.reply.hold(share) }
                bytes += size
            } catch let refusal as Problem {
                query.reply.fail(refusal)
            } catch {
                // The error may have ended the transaction, so the next query gets a new one.
                return query.reply.fail(Self.problem(error))
            }
        }
    }

    // MARK: Refusals

    /// Refuses a read of a room that its reader may not see.
    ///
    /// - Parameters:
    ///   - room: The room; `nil` if it does not exist.
    ///   - isMember: Returns true if the reader is a member. Asked if that matters.
    func checkAccess(
        _ query: Query, to room: (isPrivate: Bool, isDeleted: Bool)?, _ isMember: (UserID) throws -> Bool
    ) throws {
        if room?.isDeleted == true { throw Problem.roomDeleted }
        if let room {
            if room.isPrivate, !query.isAdmin {
                guard let user = query.user, try isMember(user) else { throw Problem.roomNotFound }
            }
        } else if configuration.roomsByAdminsOnly || query.room?.isDirect == true {
            throw Problem.roomNotFound
        }
        try refuseBanned(query, from: query.room)
    }

    /// Refuses a read by a user who is banned from the room, or without a room from the whole server.
    func refuseBanned(_ query: Query, from room: RoomID? = nil) throws(Problem) {
        if let refusal = refusal(of: query, from: room) { throw refusal }
    }

    /// Returns the reason why a ban keeps the reader from a room, or without a room from the whole server.
    func refusal(of query: Query, from room: RoomID?) -> Problem? {
        if bans.isEmpty { return nil }
        return bans.refusal(
            of: query.user, in: room, isAdmin: query.isAdmin, for: .read, at: configuration.clock())
    }

    /// Returns a function that returns true for the rooms to list. Rooms that a ban keeps the user from reading are not
    /// listed. The bans are looked up again inside the transaction, so a list that shows a message knows every ban that
    /// was answered before it was sent.
    func mayList(within patterns: [RoomPattern]?, for query: Query) -> (RoomID) -> Bool {
        { room in
            if let patterns, !patterns.contains(where: { $0.matches(room) }) { return false }
            return self.refusal(of: query, from: room) == nil
        }
    }

    /// Returns the refusal of a query that an error of the database ended.
    static func problem(_ error: any Error) -> Problem {
        if let refusal = error as? Problem { return refusal }
        return (error as? any SQLError)?.readProblem ?? .unreadable("\(error)")
    }
}
