package import Chat
package import Wire

/// The position of each room's feeds on this node: the `seq` and revision up to which they have been given everything.
///
/// A commit of this node goes into the feeds directly if it continues the position. What other nodes have committed is
/// looked up in the database: this value says which rooms to look at, and what to publish of the answers.
///
/// Feeds tolerate batches that are repeated or skipped. They drop a batch that ends where they are or before, and a
/// subscriber that is at an earlier revision than its feed's first message reads the log. So nothing is lost if each
/// revision after a subscription's first slice is followed by a published batch that ends there or later:
///
/// - A subscription joins its feed before its first slice is read. A batch published after that reaches its feed.
/// - The position begins with the first slice that is answered, so no later commit counts as known. A slice may be
///   older than the position, but then a batch up to the position is published, which tells the feeds where they are.
///
/// A plain value. It never needs to know when a room's last subscriber leaves: rooms without subscribers are forgotten
/// when it looks at them, at the latest at the next sweep.
package struct FeedPositions {
    /// A room to look at.
    package struct Look: Sendable, Hashable {
        package let room: RoomID
        /// The position up to which everything is known.
        package let since: RoomState

        /// Creates a room to look at.
        package init(room: RoomID, since: RoomState) {
            self.room = room
            self.since = since
        }
    }

    /// The answer to a look.
    package struct Answer: Sendable {
        /// The changed messages, from the look's position on.
        package var batch: Batch
        /// True if more messages have changed than the batch contains.
        package var hasMore: Bool
        /// The age of its oldest new message, by the database's clock; `nil` without new messages.
        package var delay: Duration?

        /// Creates an answer.
        package init(batch: Batch, hasMore: Bool, delay: Duration? = nil) {
            self.batch = batch
            self.hasMore = hasMore
            self.delay = delay
        }
    }

    private struct Position {
        /// The state up to which the feeds have been given everything; `nil` until the first slice is answered.
        var state: RoomState?
        /// True once a batch has told the feeds of all loops where they are.
        var isPublished = false
        /// The highest revision that the node has heard of since the last look began.
        var hinted: Int64 = 0
        /// True while the room waits for a look.
        var isDue = false
        /// True while a look is being answered.
        var isLooking = false
    }

    private var positions: [RoomID: Position] = [:]
    /// The rooms that wait for a look, oldest first.
    private var due: [RoomID] = []

    /// Creates a value without positions.
    package init() {}

    /// The number of rooms with a position.
    package var count: Int { positions.count }

    /// True if a room waits for a look.
    package var hasDue: Bool { !due.isEmpty }

    // MARK: This node

    /// Records a subscription's slice that was read up to the room's state, without more to read.
    ///
    /// - Returns: A batch without messages to publish; `nil` if there is none.
    package mutating func replayed(_ room: RoomID, to state: RoomState) -> Batch? {
        var position = positions[room] ?? Position()
        defer { positions[room] = position }
        guard let known = position.state else {
            position.state = state
            if position.hinted > state.rev { makeDue(room, &position) }
            return nil
        }
        // The slice was read before another loop's, whose state is the position. That loop's feed need not know it.
        guard state.rev < known.rev, !position.isPublished else { return nil }
        position.isPublished = true
        return Batch(room: room, since: known.rev, revs: [], rev: known.rev, head: known.head, messages: [])
    }

    /// Records a commit of this node.
    ///
    /// - Returns: True if its batch is to be published; false if the feeds have it, or the room needs a look first.
    package mutating func committed(_ batch: Batch) -> Bool {
        // Without a position the batch is published. Subscriptions that are about to start compare it with their
        // slices.
        guard var position = positions[batch.room] else { return true }
        defer { positions[batch.room] = position }
        if let known = position.state {
            if batch.rev <= known.rev { return false }
            if batch.since > known.rev {
                position.hinted = max(position.hinted, batch.rev)
                makeDue(batch.room, &position)
                return false
            }
        }
        advance(&position, to: RoomState(head: batch.head, rev: batch.rev), in: batch.room)
        return true
    }

    // MARK: Other nodes

    /// Records that a room has reached a revision, as another node or a sweep reports.
    ///
    /// - Parameter hasSubscribers: Returns true if a room has subscribers on this node.
    package mutating func hinted(_ room: RoomID, at rev: Int64, hasSubscribers: (RoomID) -> Bool) {
        guard var position = positions[room] else {
            // A subscription's first slice is being read, which may not contain this revision.
            if hasSubscribers(room) { positions[room] = Position(hinted: rev) }
            return
        }
        position.hinted = max(position.hinted, rev)
        if let known = position.state, rev > known.rev { makeDue(room, &position) }
        positions[room] = position
    }

    /// Makes all rooms wait for a look, because hints were lost.
    package mutating func lookAtAll() {
        for room in Array(positions.keys) {
            var position = positions[room]!
            // For slices that are being read.
            position.hinted = .max
            if position.state != nil { makeDue(room, &position) }
            positions[room] = position
        }
    }

    /// Forgets rooms without subscribers, and returns the positions of the others, to compare them with the database.
    package mutating func sweep(hasSubscribers: (RoomID) -> Bool) -> [Look] {
        var looks: [Look] = []
        for (room, position) in positions where !position.isLooking {
            if !hasSubscribers(room) {
                positions[room] = nil
            } else if !position.isDue, let state = position.state {
                looks.append(Look(room: room, since: state))
            }
        }
        due.removeAll { positions[$0] == nil }
        return looks
    }

    // MARK: Looks

    /// Takes rooms to look at, oldest first. Each needs ``looked(_:_:)`` or ``failed(_:)``.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of rooms.
    ///   - hasSubscribers: Returns true if a room has subscribers on this node. Others are forgotten.
    package mutating func takeLooks(_ limit: Int, hasSubscribers: (RoomID) -> Bool) -> [Look] {
        var looks: [Look] = []
        var taken = 0
        for room in due where looks.count < limit {
            taken += 1
            guard var position = positions[room], let state = position.state, hasSubscribers(room) else {
                positions[room] = nil
                continue
            }
            position.isDue = false
            position.isLooking = true
            // The look sees what was hinted before it.
            position.hinted = 0
            positions[room] = position
            looks.append(Look(room: room, since: state))
        }
        due.removeFirst(taken)
        return looks
    }

    /// Records the answer of a look.
    ///
    /// - Parameter answer: The changes; `nil` if there are none.
    /// - Returns: The batch to publish; `nil` if there is none.
    package mutating func looked(_ look: Look, _ answer: Answer?) -> Batch? {
        guard var position = positions[look.room], position.isLooking else { return nil }
        defer { positions[look.room] = position }
        position.isLooking = false
        let rev = position.state?.rev ?? look.since.rev
        guard let answer, answer.batch.rev > rev else {
            // More of the look is left only if commits of this node did not overtake it.
            if position.hinted > rev || answer?.hasMore == true { makeDue(look.room, &position) }
            return nil
        }
        let state = RoomState(head: max(answer.batch.head, position.state?.head ?? 0), rev: answer.batch.rev)
        advance(&position, to: state, in: look.room)
        if answer.hasMore { makeDue(look.room, &position) }
        return answer.batch
    }

    /// Makes a room wait for another look, because this one has failed.
    package mutating func failed(_ look: Look) {
        guard var position = positions[look.room], position.isLooking else { return }
        position.isLooking = false
        makeDue(look.room, &position)
        positions[look.room] = position
    }

    // MARK: Positions

    private mutating func advance(_ position: inout Position, to state: RoomState, in room: RoomID) {
        position.state = state
        position.isPublished = true
        if position.hinted > state.rev { makeDue(room, &position) }
    }

    /// Lets a room wait for a look, unless it waits already. During a look `hinted` decides if another one follows.
    private mutating func makeDue(_ room: RoomID, _ position: inout Position) {
        guard !position.isDue, !position.isLooking else { return }
        position.isDue = true
        due.append(room)
    }
}
