import Chat
import Glibc
public import Wire

/// Imports a history from lines of JSON into a database that no server has open.
///
/// Messages keep their `created_at`, sender, client message id, content, reactions, `edited_at` and tombstones. They
/// get the next `seq` and revisions of their room: one revision for the message, one for its edit or deletion, and one
/// for each reaction. `reply_to` and read marks are adjusted to the new `seq` of their messages.
///
/// Many lines share a transaction. A line that cannot be imported ends the import. Its transaction is rolled back;
/// earlier transactions stay. Importing the same file again is safe, because messages that exist are skipped. A message
/// exists if its sender has sent one with the same client message id in the room. Without such an id, it exists if the
/// message at its position has the same sender and time.
///
/// Memory depends on the number of rooms, not of messages.
public struct HistoryImport: Sendable {
    /// The counts of an import.
    public struct Contents: Sendable, Hashable {
        /// The number of lines stored.
        public var lines: Int64 = 0
        /// The number of new rooms.
        public var rooms: Int64 = 0
        /// The number of new messages.
        public var messages: Int64 = 0
        /// The number of messages that existed already.
        public var repeated: Int64 = 0
        /// False if the file begins as an export and lacks the last line of one: it has been cut off.
        public var isWhole = true
        /// True if the import was cancelled.
        public var isCancelled = false
    }

    /// The reason why an import ended early.
    public struct Failure: Error, CustomStringConvertible {
        /// The number of the line that cannot be imported, from 1.
        public var line: Int64
        /// The problem of the line.
        public var problem: Problem
        /// The number of lines before it that are stored.
        public var stored: Int64

        /// A description with the line, and the field if there is one.
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

    /// Maximum number of lines in one transaction.
    public static let batchLines = 10_000
    /// Maximum number of bytes in one transaction: 8 MiB. The last line may exceed it.
    public static let batchBytes = 8 * 1024 * 1024
    /// Maximum number of bytes of a line: 64 MiB, a message with some 400,000 reactions.
    public static let lineBytes = 64 * 1024 * 1024
    /// Maximum time that `created_at` may lie in the future, in milliseconds: one day, to allow for clocks that differ.
    /// Later messages of the room cannot have an earlier time.
    public static let mostAhead: Int64 = 86_400_000

    private let path: String
    private let configuration: StoreConfiguration

    /// Prepares an import into the database at `path`, which is created if it does not exist.
    public init(into path: String, configuration: StoreConfiguration = StoreConfiguration()) {
        self.path = path
        self.configuration = configuration
    }

    /// Imports all lines of a file descriptor.
    ///
    /// - Parameters:
    ///   - isCancelled: called after each transaction; returns true to cancel the import.
    ///   - progress: called after each transaction.
    /// - Throws: ``StoreError`` for the database, ``Failure`` for a line.
    public func run(
        from descriptor: Int32, isCancelled: () -> Bool = { false }, progress: (Contents) -> Void = { _ in }
    ) throws -> Contents {
        do {
            // A running server caches where its rooms end, so its database must not be changed.
            return try DatabaseFile.withWriter(of: path, configuration) { db in
                let statements = try WriterStatements(db)
                try db.transaction(.immediate) { _ in try statements.fileAll() }
                var input = LineInput(descriptor)
                var target = try ImportTarget(statements, at: configuration.clock())
                while !target.contents.isCancelled {
                    let isAtEnd = try Self.importBatch(&input, &target, statements)
                    // Bounds the write-ahead log, as a server does, see WriteAheadLog.
                    try db.execute("PRAGMA wal_checkpoint(\(isAtEnd ? "TRUNCATE" : "PASSIVE"))")
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
        try statements.db.transaction(.immediate) { _ in
            while target.contents.lines - stored < batchLines, input.bytes - start < batchBytes {
                do throws(Problem) {
                    guard let line = try input.next() else {
                        isAtEnd = true
                        break
                    }
                    target.contents.lines += 1
                    // An empty line, as at the end of a file, is skipped.
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

/// The lines of a file descriptor, read in chunks.
private struct LineInput {
    /// The number of the current line, from 1.
    private(set) var line: Int64 = 0
    /// The number of bytes of all lines so far.
    private(set) var bytes = 0
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    private static let chunk = 1024 * 1024

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns the next line without its LF or CR LF; `nil` at the end of the file.
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
        // Some editors put a byte order mark at the start of a file.
        if line == 1, buffer[range].starts(with: [0xEF, 0xBB, 0xBF]) {
            range = range.lowerBound + 3..<range.upperBound
        }
        return Array(buffer[range])
    }

    private func lineFeed(from index: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard index < bytes.count, let base = bytes.baseAddress else { return nil }
            // memchr reads only the bytes after `index`, which belong to the buffer.
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
            // The pointer is used only inside the closure, and the buffer has room for a chunk after `count`.
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
