/// A walk over a feed's subscribers, some at a time, from the last place to the first.
///
/// Downwards, because the place of one who leaves is taken by the last one, who has been visited by then. Who comes
/// meanwhile is not visited.
struct Sweep {
    /// The places before this one have not been visited.
    private var rest: Int

    /// A walk over as many places.
    init(over count: Int) {
        rest = count
    }

    /// Whether all places have been visited.
    var isOver: Bool { rest == 0 }

    /// The next places to visit, the last one first.
    mutating func next(_ most: Int) -> ReversedCollection<Range<Int>> {
        let places = max(0, rest - most)..<rest
        rest = places.lowerBound
        return places.reversed()
    }
}
