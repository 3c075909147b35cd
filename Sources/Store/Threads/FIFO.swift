/// A queue whose first element is taken in constant time.
///
/// A slice of an array also does that, but it moves to new memory each time that it has been emptied and filled again
/// (scenario F of `scripts/compare`).
struct FIFO<Element> {
    /// Number of taken places that are kept in front of at least as many elements.
    private static var slack: Int { 32 }

    private var items: [Element?] = []
    /// The index of the first element; the places before it are empty.
    private var first = 0

    var count: Int { items.count - first }

    var isEmpty: Bool { count == 0 }

    /// The elements, first one first.
    var all: [Element] { items[first...].map { $0! } }

    mutating func append(_ element: Element) {
        items.append(element)
    }

    mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let element = items[first].take()
        first += 1
        if isEmpty {
            items.removeAll(keepingCapacity: items.count <= Self.slack)
            first = 0
        } else if first > max(Self.slack, count) {
            items.removeSubrange(..<first)
            first = 0
        }
        return element
    }

    /// Removes the first element that meets a condition.
    ///
    /// - Returns: false if there is none.
    mutating func removeFirst(where matches: (Element) -> Bool) -> Bool {
        guard let index = items[first...].firstIndex(where: { matches($0!) }) else { return false }
        items.remove(at: index)
        return true
    }
}
