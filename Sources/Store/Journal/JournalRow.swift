import GRDB
import Wire

/// The messages of one commit as the journal holds them: one after the other in one row.
///
///     room 8 | seq 8 | rev 8 | created_at 8 | sender 2 | client id 2 | body 4 | sender … | client id … | body …
///
/// Integers are little-endian; the last three of the head are lengths in bytes. A client id of no bytes is none.
enum JournalRow {
    private static let headBytes = 40

    /// The number of bytes that a message takes in a row.
    static func byteCount(of message: RecentMessage) -> Int {
        headBytes + message.sender.string.utf8.count + (message.clientMessageID?.utf8.count ?? 0) + message.body.count
    }

    /// The row of these messages.
    static func bytes(of messages: [RecentMessage]) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(messages.reduce(0) { $0 + byteCount(of: $1) })
        for message in messages { append(message, to: &row) }
        return row
    }

    /// Appends a message to a row.
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

    /// The messages of a row.
    ///
    /// - Parameter room: says which room has a number.
    /// - Throws: `DatabaseError` `SQLITE_CORRUPT` for bytes that ``append(_:to:)`` has not made.
    static func messages(in row: [UInt8], room: (Int64) throws -> RoomID?) throws -> [RecentMessage] {
        var messages: [RecentMessage] = []
        var rest = row[...]
        while !rest.isEmpty {
            guard let message = try takeMessage(from: &rest, room: room) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of the journal cannot be read")
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
