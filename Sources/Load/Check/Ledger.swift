/// Who has seen what, on one loop: every delivery is entered here as it comes.
struct Ledger: Sendable {
    /// What a delivery amounts to.
    enum Entry: Equatable, Sendable {
        /// A message that this subscriber had not seen.
        case new
        /// The same, and all subscribers of the room on this loop have it now.
        case complete
        /// One that it had.
        case duplicate
        /// One of another run or room.
        case foreign
    }

    /// The run whose messages count.
    let run: Int64
    /// By the number of the room.
    private(set) var rooms: [RoomLedger]
    /// In the order in which they were added.
    private(set) var subscribers: [SubscriberRecord] = []
    /// Marks of other runs, or garbled ones.
    private(set) var foreign = 0
    /// Messages that reached subscribers of another room.
    private(set) var misrouted = 0
    /// Deliveries of messages that the subscriber had not seen.
    private(set) var deliveries = 0

    /// A ledger of as many rooms, without subscribers.
    init(run: Int64, rooms: Int) {
        self.run = run
        self.rooms = Array(repeating: RoomLedger(), count: rooms)
    }

    /// Adds a subscriber, which is to see everything of its room behind the first `start` messages.
    ///
    /// - Returns: its index in ``subscribers``.
    mutating func addSubscriber(id: Int, room: Int, start: Int = 0) -> Int {
        rooms[room].subscribers += 1
        subscribers.append(SubscriberRecord(id: id, room: room, start: start))
        return subscribers.count - 1
    }

    /// Takes over the orders of the rooms from those who have seen them, for subscribers that come later.
    mutating func adopt(_ history: History) {
        for room in rooms.indices {
            for number in history.orders[room] { _ = rooms[room].place(of: Int(number)) }
        }
    }

    /// Counts deliveries to this subscriber no longer when it is asked whether all have a message.
    mutating func removeSubscriber(at index: Int) {
        rooms[subscribers[index].room].subscribers -= 1
    }

    /// Enters a delivery.
    ///
    /// - Parameter index: the subscriber's place in ``subscribers``.
    mutating func enter(_ mark: Mark, subscriber index: Int) -> Entry {
        let room = subscribers[index].room
        guard mark.run == run else {
            foreign += 1
            return .foreign
        }
        guard mark.room == room else {
            misrouted += 1
            return .foreign
        }
        let position = subscribers[index].position
        if position < rooms[room].order.count, Int(rooms[room].order[position]) == mark.number {
            subscribers[index].position = position + 1
        } else {
            guard let place = rooms[room].place(of: mark.number) else {
                foreign += 1
                return .foreign
            }
            guard subscribers[index].move(to: place) else { return .duplicate }
        }
        deliveries += 1
        return rooms[room].arrived(mark.number) ? .complete : .new
    }

    /// Returns whether every live subscriber has all that any subscriber of its room has.
    func isLevel(except lost: (Int) -> Bool) -> Bool {
        subscribers.indices.allSatisfy { index in
            let subscriber = subscribers[index]
            return lost(index) || subscriber.start + subscriber.received == rooms[subscriber.room].order.count
        }
    }
}

extension SubscriberRecord {
    /// Takes the message at a place of the room's order.
    ///
    /// - Returns: false if it had it.
    fileprivate mutating func move(to place: Int) -> Bool {
        if place == position {
            position += 1
            return true
        }
        var faults = faults ?? Faults()
        defer { self.faults = faults }
        if place > position {
            faults.skip(position..<place)
            position = place + 1
            return true
        }
        if faults.fill(place) {
            faults.late += 1
            return true
        }
        faults.duplicates += 1
        return false
    }
}
