import Synchronization

/// The numbers that rooms have got in the database, of which there are ``RowKey/maximumRoom``. No number is used again.
public final class RoomNumbers: Sendable {
    private let last = Atomic<Int64>(0)
    private let refusals = Atomic(0)

    /// Creates numbers of which none is known to be used.
    public init() {}

    /// The highest number that this server knows to be used.
    public var highest: Int64 { last.load(ordering: .relaxed) }

    /// The number of rooms that could not be created, because no number is left.
    public var refused: Int { refusals.load(ordering: .relaxed) }

    /// Records a used number.
    func use(_ number: Int64) {
        last.max(number, ordering: .relaxed)
    }

    /// Counts a room that could not be created.
    ///
    /// - Returns: True for the first one.
    func refuse() -> Bool {
        refusals.add(1, ordering: .relaxed).oldValue == 0
    }
}
