/// The deliveries to the subscribers of one loop. Every delivery is recorded as it arrives.
struct Ledger: Sendable {
    /// The classification of a delivery.
    enum Entry: Equatable, Sendable {
        /// A message that is new to this subscriber.
        case new
        /// A new message that all subscribers of the room on this loop now have.
        case complete
        /// A message that the subscriber already had.
        case duplicate
        /// A message of another run or room.
        case foreign
    }

    /// The run whose messages count.
    let run: Int64
    /// The ledgers of the rooms, by the room's number.
    private(set) var rooms: [RoomLedger]
    /// The subscribers, in the order in which they were added.
    private(set) var subscribers: [SubscriberRecord] = []
    /// Number of marks that are garbled or of other runs.
    private(set) var foreign = 0
    /// Number of messages that reached subscribers of another room.
    private(set) var misrouted = 0
    /// Number of deliveries of messages that were new to the subscriber.
    private(set) var deliveries = 0

    init(run: Int64, rooms: Int) {
        self.run = run
        self.rooms = Array(repeating: RoomLedger(), count: rooms)
    }

    /// Adds a subscriber that must receive everything in its room after the first `start` messages.
    ///
    /// - Returns: its index in ``subscribers``.
    mutating func addSubscriber(id: Int, room: Int, start: Int = 0) -> Int {
        rooms[room].subscribers += 1
        subscribers.append(SubscriberRecord(id: id, room: room, start: start))
        return subscribers.count - 1
    }

    /// Copies the orders of the rooms from a history, for subscribers added later.
    mutating func adopt(_ history: History) {
        for room in rooms.indices {
            for number in history.orders[room] { _ = rooms[room].place(of: Int(number)) }
        }
    }

    /// Excludes this subscriber when deciding whether all have a message.
    mutating func removeSubscriber(at index: Int) {
        rooms[subscribers[index].room].subscribers -= 1
    }

    /// Records a delivery.
    ///
    /// - Parameter index: the subscriber's index in ``subscribers``.
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

    /// Returns true if every connected subscriber has every message that any subscriber of its room has.
    func isLevel(except lost: (Int) -> Bool) -> Bool {
        subscribers.indices.allSatisfy { index in
            let subscriber = subscribers[index]
            return lost(index) || subscriber.start + subscriber.received == rooms[subscriber.room].order.count
        }
    }
}

extension SubscriberRecord {
    /// Records the message at a place of the room's order.
    ///
    /// - Returns: false if the subscriber already had it.
    fileprivate mutating func move(to place: Int) -> Bool {
        if place == position {
            position += 1
            return true
        }
        var faults = faults ?? Faults()
        defer { self.faults = faults }
        if place > position {
            faults.skipped.append(position..<place)
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
