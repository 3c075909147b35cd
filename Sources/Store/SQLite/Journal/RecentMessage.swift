import Wire

/// A message in the journal that is not filed.
final class RecentMessage: Sendable {
    /// Its room and the room's number in the database.
    let room: RoomID
    let roomNumber: Int64
    let seq: Int64
    /// The room's revision when it was sent.
    let rev: Int64
    /// The time when it was stored.
    let createdAt: Timestamp
    let sender: UserID
    let clientMessageID: String?
    /// Its snapshot.
    let body: [UInt8]
    /// The ``ClientMessageKey/hash`` of its client message id; `nil` without one.
    let keyHash: UInt64?

    /// Creates a message; `key` is the key of its client message id, if it has one.
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

    /// Returns true if it was sent with this client message id. Ids are compared by bytes, as in the database.
    func wasSent(by sender: UserID, as id: String) -> Bool {
        clientMessageID?.hasSameBytes(as: id) == true && self.sender == sender
    }
}

/// Messages in the order of their sends, searchable by client message id.
///
/// A list has at most about three thousand messages, and usually a few. Searching their hashes in an array costs less
/// than keeping a table.
struct RecentMessageList {
    private(set) var messages: [RecentMessage] = []
    private var hashes: [UInt64] = []

    /// Reserves memory for `count` messages.
    mutating func reserveCapacity(_ count: Int) {
        messages.reserveCapacity(count)
        hashes.reserveCapacity(count)
    }

    /// Adds the newest message.
    mutating func append(_ message: RecentMessage) {
        messages.append(message)
        hashes.append(message.keyHash ?? 0)
    }

    mutating func removeAll(of room: Int64) -> [RecentMessage] {
        let removed = messages.filter { $0.roomNumber == room }
        if removed.isEmpty { return [] }
        messages.removeAll { $0.roomNumber == room }
        hashes = messages.map { $0.keyHash ?? 0 }
        return removed
    }

    /// Returns the message that was sent to a room with a client message id.
    func first(_ key: ClientMessageKey, in room: Int64) -> RecentMessage? {
        for index in hashes.indices where hashes[index] == key.hash {
            let message = messages[index]
            if message.roomNumber == room, message.wasSent(by: key.sender, as: key.id) { return message }
        }
        return nil
    }
}

/// The encoding of a commit's messages in one row of the journal: one message after the other.
///
///     room 8 | seq 8 | rev 8 | created_at 8 | sender 2 | client id 2 | body 4 | sender … | client id … | body …
///
/// Integers are little-endian. The last three are lengths in bytes. Without a client id its length is 0.
enum JournalRow {
    private static let headBytes = 40

    /// Returns the number of bytes of a message in a row.
    static func byteCount(of message: RecentMessage) -> Int {
        headBytes + message.sender.string.utf8.count + (message.clientMessageID?.utf8.count ?? 0) + message.body.count
    }

    /// Returns the row of these messages.
    static func bytes(of messages: [RecentMessage]) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(messages.reduce(0) { $0 + byteCount(of: $1) })
        for message in messages { append(message, to: &row) }
        return row
    }

    static func append(_ message: RecentMessage, to row: inout [UInt8]) {
        let sender = message.sender.string
        let id = message.clientMessageID ?? ""
        let body = message.body
        let (senderCount, idCount) = (sender.utf8.count, id.utf8.count)
        row.append(addingCapacity: headBytes + senderCount + idCount + body.count) { row in
            row.append(littleEndian: UInt64(bitPattern: message.roomNumber))
            row.append(littleEndian: UInt64(bitPattern: message.seq))
            row.append(littleEndian: UInt64(bitPattern: message.rev))
            row.append(littleEndian: UInt64(bitPattern: message.createdAt.milliseconds))
            let lengths = UInt64(UInt16(senderCount)) | UInt64(UInt16(idCount)) << 16 | UInt64(UInt32(body.count)) << 32
            row.append(littleEndian: lengths)
            row.append(utf8: sender)
            row.append(utf8: id)
            row.append(copying: body.span)
        }
    }

    /// Returns the messages of a row.
    ///
    /// - Parameter room: returns the room with a number.
    /// - Throws: `SQLiteError`; `SQLITE_CORRUPT` for bytes that ``append(_:to:)`` has not made.
    static func messages(in row: [UInt8], room: (Int64) throws -> RoomID?) throws -> [RecentMessage] {
        var messages: [RecentMessage] = []
        var rest = row[...]
        while !rest.isEmpty {
            guard let message = try takeMessage(from: &rest, room: room) else {
                throw SQLiteError.damage("a row of the journal cannot be read")
            }
            messages.append(message)
        }
        return messages
    }

    private static func takeMessage(
        from rest: inout ArraySlice<UInt8>, room: (Int64) throws -> RoomID?
    ) throws -> RecentMessage? {
        guard rest.count >= headBytes else { return nil }
        let number: Int64 = takeInteger(from: &rest)
        let seq: Int64 = takeInteger(from: &rest)
        let rev: Int64 = takeInteger(from: &rest)
        let createdAt: Int64 = takeInteger(from: &rest)
        let senderBytes: UInt16 = takeInteger(from: &rest)
        let clientIDBytes: UInt16 = takeInteger(from: &rest)
        let bodyBytes: UInt32 = takeInteger(from: &rest)
        guard rest.count >= Int(senderBytes) + Int(clientIDBytes) + Int(bodyBytes),
            let senderText = String(validating: rest.prefix(Int(senderBytes)), as: UTF8.self),
            let sender = try? UserID(senderText),
            let id = String(validating: rest.dropFirst(Int(senderBytes)).prefix(Int(clientIDBytes)), as: UTF8.self),
            let room = try room(number)
        else { return nil }
        rest = rest.dropFirst(Int(senderBytes) + Int(clientIDBytes))
        let body = Array(rest.prefix(Int(bodyBytes)))
        rest = rest.dropFirst(Int(bodyBytes))
        return RecentMessage(
            room: room, roomNumber: number, seq: seq, rev: rev, createdAt: Timestamp(milliseconds: createdAt),
            sender: sender, key: id.isEmpty ? nil : ClientMessageKey(sender: sender, id: id), body: body)
    }

    private static func takeInteger<T: FixedWidthInteger>(from rest: inout ArraySlice<UInt8>) -> T {
        let bytes = rest.prefix(T.bitWidth / 8)
        rest = rest.dropFirst(bytes.count)
        return bytes.reversed().reduce(0) { $0 << 8 | T($1) }
    }
}
