import GRDB
import Glibc
public import Wire

/// Reads a history from lines of JSON into a database that no server has open.
///
/// Messages keep their `created_at`, sender, client message id, content, reactions, `edited_at` and tombstones. They get the
/// next `seq` and the next revisions of their room: one for the message, one for its edit or its deletion, and one for each
/// reaction. `reply_to` and read marks move with the messages that they name.
///
/// Lines are stored in transactions of many. A line that cannot be imported ends the import, and nothing of its transaction
/// is stored; the lines of the transactions before it stay. To run the import again is safe: messages that are there
/// already are skipped. A message is there if its sender has sent one under the same client message id in the room, or,
/// without an id, if the message in its place has the same sender and time.
///
/// Memory depends on the number of rooms, not of messages.
public struct HistoryImport: Sendable {
    /// The counts of what has been imported.
    public struct Contents: Sendable, Hashable {
        /// Lines that are stored.
        public var lines: Int64 = 0
        /// Rooms that are new.
        public var rooms: Int64 = 0
        /// Messages that are new.
        public var messages: Int64 = 0
        /// Messages that were there already.
        public var repeated: Int64 = 0
        /// False if the file says that it is an export and lacks the last line of one: it has been cut off.
        public var isWhole = true
        /// True if the import was given up before the end of the file.
        public var isCancelled = false
    }

    /// The reason why an import has ended before the end of its file.
    public struct Failure: Error, CustomStringConvertible {
        /// The line that cannot be imported, from 1 on.
        public var line: Int64
        /// The problem of the line.
        public var problem: Problem
        /// The lines before it that are stored.
        public var stored: Int64

        /// The problem in words, with the line and the field where there is one.
        public var description: String {
            let field = problem.field.map { ", \($0)" } ?? ""
            let kept =
                stored == 0
                ? "Nothing has been imported." : "Lines 1 to \(stored) are imported, and nothing after them."
            return """
                line \(line)\(field): \(problem.detail) (\(problem.code.string)). \(kept) Correct the line and import the \
                file again: messages that are there already are skipped.
                """
        }
    }

    /// Lines of one transaction, at most.
    public static let batchLines = 10_000
    /// Bytes of the lines of one transaction, 8 MiB, plus one line.
    public static let batchBytes = 8 * 1024 * 1024
    /// The longest line, 64 MiB: a message with some 400,000 reactions.
    public static let lineBytes = 64 * 1024 * 1024
    /// The furthest that `created_at` may lie in the future, in milliseconds: a day, for clocks that differ. Later messages
    /// of the room could not have an earlier time.
    public static let mostAhead: Int64 = 86_400_000

    private let path: String
    private let configuration: StoreConfiguration

    /// An import into the database at `path`, which is made if it is not there.
    public init(into path: String, configuration: StoreConfiguration = StoreConfiguration()) {
        self.path = path
        var configuration = configuration
        configuration.reservedLog = 0
        self.configuration = configuration
    }

    /// Imports all lines of a file descriptor.
    ///
    /// - Parameters:
    ///   - isCancelled: asked after each transaction whether to give up.
    ///   - progress: called after each transaction.
    /// - Throws: ``StoreError`` for the database, ``Failure`` for a line.
    public func run(
        from descriptor: Int32, isCancelled: () -> Bool = { false }, progress: (Contents) -> Void = { _ in }
    ) throws -> Contents {
        // The lock that a server holds: the writer of a running server knows where its rooms end.
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        defer {
            try? connection.close()
            // Keeps the lock until the connection is closed.
            _ = file.path
        }
        do {
            return try connection.inDatabase { db in
                let statements = try WriterStatements(db)
                try statements.transaction { try Journal.empty(db, statements) }
                var input = LineInput(descriptor)
                var target = ImportTarget(db, statements, latest: configuration.clock().milliseconds + Self.mostAhead)
                while !target.contents.isCancelled {
                    let isAtEnd = try Self.importBatch(&input, &target, statements)
                    // Bounds the log; a server does the same, see WriteAheadLog.
                    try db.execute(sql: "PRAGMA wal_checkpoint(\(isAtEnd ? "TRUNCATE" : "PASSIVE"))")
                    progress(target.contents)
                    if isAtEnd { break }
                    target.contents.isCancelled = isCancelled()
                }
                target.contents.isWhole = !target.isExport || target.hasEnded
                return target.contents
            }
        } catch let error as Failure {
            throw error
        } catch {
            throw named(path, error)
        }
    }

    /// Imports some lines in one transaction.
    ///
    /// - Returns: true if there are no more lines.
    private static func importBatch(
        _ input: inout LineInput, _ target: inout ImportTarget, _ statements: WriterStatements
    ) throws -> Bool {
        let stored = target.contents.lines
        let start = input.bytes
        var isAtEnd = false
        try statements.transaction {
            while target.contents.lines - stored < batchLines, input.bytes - start < batchBytes {
                do throws(Problem) {
                    guard let line = try input.next() else {
                        isAtEnd = true
                        break
                    }
                    target.contents.lines += 1
                    // An empty line is nothing, as at the end of a file.
                    if line.isEmpty { continue }
                    try target.take(try TransferLine.decode(line))
                } catch {
                    throw Failure(line: input.line, problem: error, stored: stored)
                }
                if let failure = target.failure { throw failure }
            }
            try target.flush()
        }
        return isAtEnd
    }
}

/// Lines of a file descriptor, read in chunks.
private struct LineInput {
    /// The number of the latest line, from 1 on.
    private(set) var line: Int64 = 0
    /// Bytes of all lines so far.
    private(set) var bytes = 0
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    private static let chunk = 1024 * 1024

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The next line without its end, LF or CR LF; `nil` at the end of the file.
    mutating func next() throws(Problem) -> [UInt8]? {
        var searched = start
        while true {
            if let end = lineFeed(from: searched) {
                defer { start = end + 1 }
                return take(start..<end)
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return take(start..<buffer.count)
            }
            guard buffer.count - start <= HistoryImport.lineBytes else {
                line += 1
                throw .bodyTooLarge(limit: HistoryImport.lineBytes)
            }
            searched = buffer.count - start
            try fill()
        }
    }

    private mutating func take(_ range: Range<Int>) -> [UInt8] {
        line += 1
        bytes += range.count + 1
        var range = range
        if range.last.map({ buffer[$0] }) == UInt8(ascii: "\r") { range = range.lowerBound..<range.upperBound - 1 }
        // A byte order mark, as some editors put in front of a file.
        if line == 1, buffer[range].starts(with: [0xEF, 0xBB, 0xBF]) {
            range = range.lowerBound + 3..<range.upperBound
        }
        return Array(buffer[range])
    }

    private func lineFeed(from index: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard index < bytes.count, let base = bytes.baseAddress else { return nil }
            // memchr reads no more than the bytes behind `index`, which are the buffer's.
            guard let found = memchr(base + index, Int32(UInt8(ascii: "\n")), bytes.count - index) else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private mutating func fill() throws(Problem) {
        buffer.removeFirst(start)
        start = 0
        let count = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
        var received: Int
        repeat {
            // The pointer is used only inside the closure; there is room for a chunk behind what is there.
            received = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, Self.chunk) }
        } while received < 0 && errno == EINTR
        buffer.removeLast(Self.chunk - max(0, received))
        guard received >= 0 else {
            line += 1
            throw .unavailable("The file cannot be read: \(describe(errno))")
        }
        isAtEnd = received == 0
    }
}

extension Journal {
    /// Puts all messages of a journal that no log has open in their places. Within a transaction.
    static func empty(_ db: Database, _ statements: WriterStatements) throws {
        var journal = Journal(StoreConfiguration())
        try journal.load(db, at: .now())
        try statements.insert(journal.recent.oldest(.max).messages)
        try db.execute(sql: "DELETE FROM journal")
    }
}
