/// A room's number and a `seq` or `rev` in one integer, which is what rows are ordered by.
///
/// So a page is one range of one b-tree, and its rows lie side by side, however many rooms there are. The room has the
/// upper 27 bits (134 million rooms), the `seq` or `rev` the lower 36 (68 thousand million messages or changes of a
/// room).
struct RowKey {
    /// The bits of a `seq` or `rev`.
    static let placeBits: Int64 = 36
    /// The largest `seq` or `rev`.
    static let maximumPlace: Int64 = 1 << placeBits - 1
    /// The largest number of a room.
    static let maximumRoom: Int64 = 1 << 27 - 1

    /// The key as it is stored.
    let rawValue: Int64

    /// The key of place `place` in room `room`; places beyond the largest are the largest.
    init(room: Int64, _ place: Int64) {
        rawValue = room << RowKey.placeBits | min(max(0, place), RowKey.maximumPlace)
    }

    /// The key that was stored.
    init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The room's number.
    var room: Int64 { rawValue >> RowKey.placeBits }

    /// The `seq` or `rev`.
    var place: Int64 { rawValue & RowKey.maximumPlace }
}
