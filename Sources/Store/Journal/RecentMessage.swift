import Wire

/// A message that the journal holds, and its place among the messages does not yet.
final class RecentMessage: Sendable {
    /// Its room, and the room's number in the database.
    let room: RoomID
    let roomNumber: Int64
    /// Its place in the room.
    let seq: Int64
    /// The room's revision when it was sent.
    let rev: Int64
    /// The time when it was stored.
    let createdAt: Timestamp
    /// The sender.
    let sender: UserID
    /// The sender's own name for it.
    let clientMessageID: String?
    /// Its snapshot.
    let body: [UInt8]
    /// See ``ClientMessageKey/hash``; `nil` without a client message id.
    let keyHash: UInt64?

    /// A message; `key` is that of its client message id, if it has one.
    init(
        room: RoomID, roomNumber: Int64, seq: Int64, rev: Int64, createdAt: Timestamp, sender: UserID,
        key: ClientMessageKey?, body: [UInt8]
    ) {
        self.room = room
        self.roomNumber = roomNumber
        self.seq = seq
        self.rev = rev
        self.createdAt = createdAt
        self.sender = sender
        clientMessageID = key?.id
        keyHash = key?.hash
        self.body = body
    }

    /// Returns whether it was sent under this client message id. Ids are the same when their bytes are, as in the
    /// database.
    func wasSent(by sender: UserID, as id: String) -> Bool {
        clientMessageID?.hasSameBytes(as: id) == true && self.sender == sender
    }
}

/// Messages in the order in which they were sent, which can be found by their client message ids.
///
/// There are some three thousand at most, and mostly a few. To look through their hashes, which lie side by side, takes less
/// than to keep a table of them.
struct RecentMessageList {
    private(set) var messages: [RecentMessage] = []
    private var hashes: [UInt64] = []

    /// Makes room for as many messages.
    mutating func reserveCapacity(_ count: Int) {
        messages.reserveCapacity(count)
        hashes.reserveCapacity(count)
    }

    /// Adds the newest message.
    mutating func append(_ message: RecentMessage) {
        messages.append(message)
        hashes.append(message.keyHash ?? 0)
    }

    /// Takes the messages of a room out.
    mutating func removeAll(of room: Int64) -> [RecentMessage] {
        let removed = messages.filter { $0.roomNumber == room }
        if removed.isEmpty { return [] }
        messages.removeAll { $0.roomNumber == room }
        hashes = messages.map { $0.keyHash ?? 0 }
        return removed
    }

    /// The message that was sent to a room under a client message id.
    func first(_ key: ClientMessageKey, in room: Int64) -> RecentMessage? {
        for index in hashes.indices where hashes[index] == key.hash {
            let message = messages[index]
            if message.roomNumber == room, message.wasSent(by: key.sender, as: key.id) { return message }
        }
        return nil
    }
}
