import Chat
import Glibc
import Wire

/// Writes a database's history as lines of JSON, whether or not a server has the database open.
///
/// The export reads one snapshot, row by row, so its memory does not depend on the number of messages. While it lasts,
/// the server's write-ahead log cannot be reset and grows by what is written.
public struct HistoryExport: Sendable {
    /// The counts of an export.
    public struct Contents: Sendable, Hashable {
        /// The number of rooms written so far.
        public var rooms: Int64 = 0
        /// The number of messages written so far, including tombstones.
        public var messages: Int64 = 0
        /// The number of bytes written so far.
        public var bytes: Int64 = 0
    }

    private let source: SourceDatabase

    /// Prepares an export of the database at `path`.
    ///
    /// - Throws: ``StoreError`` if there is no such database.
    public init(of path: String) throws(StoreError) {
        source = try SourceDatabase(path)
    }

    /// Writes all lines to a file descriptor.
    ///
    /// - Parameters:
    ///   - isCancelled: called repeatedly; returns true to cancel the export.
    ///   - progress: called from time to time.
    /// - Throws: ``StoreError``.
    public func run(
        to descriptor: Int32, isCancelled: @escaping () -> Bool = { false },
        progress: @escaping (Contents) -> Void = { _ in }
    ) throws(StoreError) -> Contents {
        do {
            let connection = try source.connect()
            defer { connection.close() }
            return try connection.use { db in
                guard try Schema.isCurrent(db) else {
                    throw StoreError.unusable(
                        source.path, reason: "an older version wrote it; start a server of this version with it once")
                }
                // All lines come from one snapshot.
                try db.execute("BEGIN")
                defer { try? db.execute("ROLLBACK") }
                let output = LineOutput(descriptor, path: source.path, isCancelled: isCancelled, progress: progress)
                try Writing(db, output).run()
                return output.contents
            }
        } catch {
            throw named(source.path, error)
        }
    }

    /// The buffered lines, and the counts of those written.
    private final class LineOutput {
        var bytes: [UInt8] = []
        var contents = Contents()
        private let descriptor: Int32
        private let path: String
        private let isCancelled: () -> Bool
        private let progress: (Contents) -> Void

        /// The number of bytes to write at once.
        private static let chunk = 256 * 1024

        init(
            _ descriptor: Int32, path: String, isCancelled: @escaping () -> Bool,
            progress: @escaping (Contents) -> Void
        ) {
            self.descriptor = descriptor
            self.path = path
            self.isCancelled = isCancelled
            self.progress = progress
            bytes.reserveCapacity(2 * Self.chunk)
        }

        /// Writes the buffered lines if there are enough of them.
        func writeIfFull() throws(StoreError) {
            if bytes.count >= Self.chunk { try write() }
        }

        /// Writes all buffered lines.
        func write() throws(StoreError) {
            if isCancelled() { throw .exportFailed(path, reason: "it was interrupted") }
            var start = 0
            while start < bytes.count {
                // The pointer is used only inside the closure.
                let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + start, $0.count - start) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .exportFailed(path, reason: describe(errno)) }
                start += count
            }
            contents.bytes += Int64(bytes.count)
            bytes.removeAll(keepingCapacity: true)
            progress(contents)
        }
    }

    /// One pass over the tables.
    private struct Writing {
        private let db: SQLiteConnection
        private let output: LineOutput
        private let journal = Journal()

        init(_ db: SQLiteConnection, _ output: LineOutput) throws {
            self.db = db
            self.output = output
            try journal.load(db, at: .now())
        }

        func run() throws {
            TransferLine.start(version: TransferLine.version, epoch: try Schema.epoch(db)).encode(into: &output.bytes)
            // A deleted room keeps only its name, which is never used again.
            try db.forEach(
                """
                SELECT id, name, private, direct_first, direct_second, \(RoomManners.columns) FROM rooms
                WHERE deleted = 0 ORDER BY id
                """
            ) { row in
                let (number, id) = (row.integer(0), RoomID(trusted: row.text(1)))
                let settings = RoomSettings(
                    visibility: row.integer(2) == 1 ? .private : .open, title: RoomManners.title(row, from: 5),
                    RoomManners(row, from: 5))
                TransferLine.room(id, settings, direct: DirectPair(row, from: 3)).encode(into: &output.bytes)
                output.contents.rooms += 1
                try writeMembers(of: id, number)
                try writeMessages(of: id, number)
            }
            try db.forEach(
                """
                SELECT name, user, seq, moved_at FROM read_marks JOIN rooms ON rooms.id = room
                WHERE deleted = 0 AND \(Erasures.isPresent("read_marks.user", in: "room"))
                """
            ) { row in
                let mark = ReadReceipt(
                    user: UserID(trusted: row.text(1)), seq: row.integer(2),
                    at: row.isNull(3) ? nil : Timestamp(milliseconds: row.integer(3)))
                TransferLine.read(RoomID(trusted: row.text(0)), mark).encode(into: &output.bytes)
                try output.writeIfFull()
            }
            try db.forEach("SELECT user, blocked, created_at FROM blocks ORDER BY user, blocked") { row in
                let block = Block(
                    user: UserID(trusted: row.text(1)), createdAt: Timestamp(milliseconds: row.integer(2)))
                TransferLine.block(block, by: UserID(trusted: row.text(0))).encode(into: &output.bytes)
            }
            try db.forEach("SELECT user, name, avatar, data FROM profiles") { row in
                guard let profile = Profile(row, user: 0, content: 1) else { return }
                TransferLine.profile(profile).encode(into: &output.bytes)
                try output.writeIfFull()
            }
            try db.forEach(
                """
                SELECT name, user, level, until, room_mentions FROM notify JOIN rooms ON rooms.id = room
                WHERE deleted = 0 AND \(Erasures.isPresent("notify.user", in: "room"))
                """
            ) { row in
                guard let settings = NotifySettings(row, from: 2) else { return }
                TransferLine.notify(RoomID(trusted: row.text(0)), UserID(trusted: row.text(1)), settings)
                    .encode(into: &output.bytes)
                try output.writeIfFull()
            }
            TransferLine.end(messages: output.contents.messages).encode(into: &output.bytes)
            try output.write()
        }

        private func writeMembers(of id: RoomID, _ number: Int64) throws {
            try db.forEach(
                """
                SELECT user, owner, hidden FROM members WHERE room = $1 AND \(Erasures.isPresent("members.user", in: "$1"))
                ORDER BY user
                """, number
            ) { row in
                let member = RoomMember(user: UserID(trusted: row.text(0)), role: RoomMember.Role(row.integer(1)))
                TransferLine.member(id, member, isHidden: row.integer(2) == 1)
                    .encode(into: &output.bytes)
                try output.writeIfFull()
            }
        }

        private func writeMessages(of id: RoomID, _ number: Int64) throws {
            try db.forEach(
                "SELECT id, body FROM messages WHERE id > $1 AND id <= $2 ORDER BY id", RowKey(room: number, 0),
                RowKey(room: number, RowKey.maximumOrdinal)
            ) { row in
                let key = row.integer(0)
                try row.withBytes(1) { body in try write(body, RowKey(rawValue: key)) }
            }
            // A room's recent messages are newer than its rows, and have never been changed.
            for message in journal.messages(of: id) {
                let body = message.body
                try write(body.span, RowKey(room: number, message.seq))
            }
        }

        private func write(_ body: Span<UInt8>, _ key: RowKey) throws {
            output.contents.messages += 1
            if body.contains(Self.reactions) || body.contains(Self.mentions) {
                let message = try Message(decoding: body)
                let reactions = try message.reactions.map { reaction in
                    (key: try ReactionKey(reaction.key), users: try users(of: reaction.key, key))
                }
                let past = try message.content.mentions.users.filter { user in
                    try user != message.sender && !db.mentions(user, key)
                }
                TransferLine.message(
                    TransferMessage(message, seq: key.ordinal, reactions: reactions, pastMentions: past)
                ).encode(into: &output.bytes)
            } else {
                TransferLine.appendMessage(body, to: &output.bytes)
            }
            try output.writeIfFull()
        }

        /// The first bytes of a snapshot's reactions. They may also occur in the `data` of a message without reactions.
        private static let reactions = Array(#","reactions":["#.utf8)
        /// The same of the users whom a message mentions.
        private static let mentions = Array(#","mentions":["#.utf8)

        private func users(of reaction: String, _ key: RowKey) throws -> [UserID] {
            try db.all("SELECT user FROM reactions WHERE message = $1 AND key = $2 ORDER BY rev", key, reaction) {
                UserID(trusted: $0.text(0))
            }
        }
    }
}

extension Span<UInt8> {
    /// Returns true if the bytes occur in the array.
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start + bytes.count <= count {
            var length = 0
            while length < bytes.count, self[start + length] == bytes[length] { length += 1 }
            if length == bytes.count { return true }
            start += 1
        }
        return false
    }
}
