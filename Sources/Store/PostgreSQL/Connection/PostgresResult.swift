import CPostgreSQL

/// The rows of a statement, in binary format.
///
/// Confined to the connection's thread.
final class PostgresResult {
    // Owned, and freed by `deinit`.
    private let result: OpaquePointer

    /// Takes ownership of libpq's result.
    init(owning result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    /// The number of rows.
    var count: Int { Int(PQntuples(result)) }

    /// The number of rows that the statement inserted, changed, deleted or selected.
    var affectedRows: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// Returns an integer of 1, 2, 4 or 8 bytes, or a boolean as 0 or 1; 0 for NULL.
    func integer(_ row: Int, _ column: Int) -> Int64 {
        withBytes(row, column) { bytes in
            var value: UInt64 = bytes.count > 0 && bytes[0] & 0x80 != 0 ? .max : 0
            // Bytes come in network order.
            for index in bytes.indices { value = value << 8 | UInt64(bytes[index]) }
            return Int64(bitPattern: value)
        }
    }

    /// Returns a text; empty for NULL.
    func text(_ row: Int, _ column: Int) -> String {
        withBytes(row, column) { bytes in
            // The pointer is used only inside the closure, while the result is alive.
            bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Returns a value's bytes; none for NULL.
    func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        withBytes(row, column) { bytes in
            // The pointer is used only inside the closure, while the result is alive.
            bytes.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// Passes `body` a value's bytes, which are valid until it returns.
    func withBytes<R>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
        // libpq's value has this number of bytes. It stays at its address as long as the result, which `self` owns.
        let start = UnsafeRawPointer(PQgetvalue(result, Int32(row), Int32(column)))?.assumingMemoryBound(to: UInt8.self)
        let count = Int(PQgetlength(result, Int32(row), Int32(column)))
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeBufferPointer(start: start, count: count).span)
    }
}
