import Chat

/// A room's number and a `seq` or `rev` in one integer, the primary key of messages.
///
/// The messages of a page are neighbors in one b-tree, however many rooms there are. The upper 27 bits are the room
/// (134 million rooms), the lower 36 bits the `seq` or `rev` (68 thousand million per room).
struct RowKey {
    /// The number of bits of a `seq` or `rev`.
    static let ordinalBits: Int64 = 36
    /// The largest `seq` or `rev`.
    static let maximumOrdinal = RoomFacts.maximumOrdinal
    /// The largest room number.
    static let maximumRoom: Int64 = 1 << 27 - 1

    /// The room number that stands for the whole server.
    static let server: Int64 = 0

    /// The key as stored.
    let rawValue: Int64

    /// Creates the key of a `seq` or `rev` in room `room`. One beyond the largest becomes the largest.
    init(room: Int64, _ ordinal: Int64) {
        rawValue = room << RowKey.ordinalBits | min(max(0, ordinal), RowKey.maximumOrdinal)
    }

    /// Creates a key from its stored value.
    init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    var room: Int64 { rawValue >> RowKey.ordinalBits }

    /// The `seq` or `rev`.
    var ordinal: Int64 { rawValue & RowKey.maximumOrdinal }
}
