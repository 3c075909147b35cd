/// The layout of a chat's list without a view: where each row is, and where the reader is.
///
/// A list view draws the rows of ``range(margin:)``, tells the heights that they turn out to have, and scrolls to
/// ``offset`` after each change: nothing that is read moves. docs/timeline.md has the rules.
///
/// ```swift
/// var layout = ListLayout<ChatTimeline.Row.ID>(height: 800, estimate: 56)
/// layout.apply(view.difference(from: shown), isEnd: view.after == .end, scroll: nil)
/// layout.measure([(row.id, 72)])
/// scrollView.offset = layout.offset
/// ```
///
/// The rows are the nodes of a balanced tree. Each knows the number and the height of the rows below it, so finding,
/// inserting, removing or measuring one of n rows takes O(log n) steps. All lengths are integers in a unit of the
/// host's choice, such as device pixels, so that sums are exact.
public struct ListLayout<ID: Hashable & Sendable>: Sendable {
    /// A row of the list.
    public struct Row: Hashable, Sendable {
        /// The identity.
        public var id: ID
        /// The `seq` of a stored message; nil for any other row.
        public var seq: Int64?
        /// True for a line between messages, which may disappear.
        public var isLine: Bool

        /// Creates a row.
        public init(id: ID, seq: Int64?, isLine: Bool) {
            self.id = id
            self.seq = seq
            self.isLine = isLine
        }
    }

    /// What stays in place while the list changes.
    public enum Anchor: Hashable, Sendable {
        /// The end of the list.
        case bottom
        /// The top of a row, at a distance from the top of the screen.
        case row(ID, distance: Int)
    }

    /// The place of a row.
    public struct Frame: Hashable, Sendable {
        /// The number of rows before it.
        public let index: Int
        /// The sum of their heights.
        public let top: Int
        /// The height, or its estimate.
        public let height: Int
        /// True if the height was measured.
        public let isMeasured: Bool
    }

    /// An edge of the rows.
    public enum Edge: Hashable, Sendable, CaseIterable {
        /// The edge with the oldest messages.
        case before
        /// The edge with the newest messages.
        case after
    }

    /// The height of the screen's list, with what the keyboard covers.
    public private(set) var height: Int
    /// The height that the keyboard covers at the lower edge.
    public private(set) var inset: Int
    /// The distance from the top of the first row to the top of the screen: what a view scrolls to.
    public private(set) var offset = 0
    /// Number of times that the list was scrolled to a target, or filled.
    public private(set) var placements = 0

    private let estimate: Int
    private let lineEstimate: Int
    private let slack: Int
    private var tree = RowTree<Row>()
    /// The nodes of the rows.
    private var nodes: [ID: Int] = [:]
    /// The anchor, and its node if it is a row.
    private var place: Place?
    /// True if only new messages can follow these rows.
    private var isEnd = false

    private enum Place {
        case bottom
        case row(node: Int, distance: Int)
    }

    /// Creates the layout of an empty list.
    ///
    /// - Parameters:
    ///   - height: The height of the screen's list, with what the keyboard covers.
    ///   - inset: The height that the keyboard covers at the lower edge.
    ///   - estimate: The height of a message that has not been measured.
    ///   - lineEstimate: That of a line between messages; nil for the same.
    ///   - slack: Maximum distance from the end that counts as the bottom.
    public init(height: Int, inset: Int = 0, estimate: Int, lineEstimate: Int? = nil, slack: Int = 0) {
        self.height = height
        self.inset = inset
        self.estimate = estimate
        self.lineEstimate = lineEstimate ?? estimate
        self.slack = slack
    }

    // MARK: Where the reader is

    /// The number of rows.
    public var count: Int { nodes.count }

    /// The sum of the heights of all rows.
    public var contentHeight: Int { tree.total }

    /// The highest offset, at which the last row ends above the keyboard.
    public var maximumOffset: Int { max(0, contentHeight + inset - height) }

    /// What stays in place; nil in an empty list.
    public var anchor: Anchor? {
        switch place {
        case nil: nil
        case .bottom: .bottom
        case .row(let node, let distance): .row(tree.row(node).id, distance: distance)
        }
    }

    /// True if the end of the list is in sight.
    public var isAtBottom: Bool { offset >= maximumOffset - slack }

    /// Returns true if less than two screens are left above or below.
    public func isNear(_ edge: Edge, screens: Int = 2) -> Bool {
        (edge == .before ? offset : contentHeight - sightEnd) < screens * height
    }

    /// The `seq` of the last message that is completely in sight, or fills the screen; nil if there is none.
    public var lastVisible: Int64? {
        var next = tree.node(at: sightEnd)
        while let node = next {
            let top = tree.above(node).top
            let bottom = top + tree.height(node)
            if bottom <= offset { return nil }
            if let seq = tree.row(node).seq, bottom <= sightEnd || top <= offset { return seq }
            next = tree.previous(node)
        }
        return nil
    }

    /// The lower edge of what is in sight.
    private var sightEnd: Int { offset + height - inset }

    // MARK: Rows

    /// Returns the id of the row at an index.
    public func id(at index: Int) -> ID? {
        tree.node(index: index).map { tree.row($0).id }
    }

    /// Returns where a row is; nil if the list has none with this id.
    public func frame(of id: ID) -> Frame? {
        nodes[id].map { node in
            let (index, top) = tree.above(node)
            return Frame(
                index: index, top: top, height: tree.height(node), isMeasured: tree.isMeasured(node))
        }
    }

    /// Returns the indices of the rows that a view must draw: those in sight, and within `margin` beyond each edge of
    /// the screen.
    public func range(margin: Int = 0) -> Range<Int> {
        guard let first = tree.node(at: offset - margin), let last = tree.node(at: offset + height + margin - 1)
        else { return 0..<0 }
        return tree.above(first).index..<tree.above(last).index + 1
    }

    // MARK: Changes

    /// Takes the steps from one list of rows to the next. The anchor stays in place.
    ///
    /// A reader at the bottom stays there when rows change, but not when newer messages come: `scroll` says if these
    /// are followed.
    ///
    /// - Parameters:
    ///   - removed: The ids of rows that are gone.
    ///   - moved: Rows that have moved, with their later index.
    ///   - inserted: New rows, with their later index.
    ///   - updated: Rows with changed content.
    ///   - isEnd: True if the room ends with these rows: `after` is `end`.
    ///   - scroll: The target of the effect `scroll`; nil without one.
    ///   - share: As for ``scroll(to:share:)``.
    public mutating func apply(
        removed: [ID], moved: [(id: ID, index: Int)], inserted: [(row: Row, index: Int)], updated: [Row], isEnd: Bool,
        scroll: Target? = nil, share: Double = 0
    ) {
        let newest = newest
        let wasEmpty = nodes.isEmpty
        var wasAtBottom = false
        if case .bottom = place {
            wasAtBottom = true
            place = inSight
        }
        leave(Set(removed).union(moved.map(\.id)))
        for id in removed { tree.release(take(id)) }
        var added = moved.map { (node: take($0.id), index: $0.index) }
        for (row, index) in inserted {
            let node = tree.make(row, height: row.isLine ? lineEstimate : estimate)
            added.append((node, index))
        }
        for (node, index) in added.sorted(by: { $0.index < $1.index }) {
            nodes[tree.row(node).id] = node
            tree.insert(node, at: index)
        }
        for row in updated {
            if let node = nodes[row.id] { tree.setRow(row, node) }
        }
        self.isEnd = isEnd
        if wasAtBottom, isEnd, self.newest <= newest { place = .bottom }
        settle()
        if place == nil || wasAtBottom { remember() }
        if wasEmpty { placements += 1 }
        if let scroll { self.scroll(to: scroll, share: share) }
    }

    /// Takes the heights of rows that were drawn. The anchor stays in place.
    ///
    /// - Returns: True if a height was another one.
    @discardableResult
    public mutating func measure(_ heights: some Sequence<(id: ID, height: Int)>) -> Bool {
        var hasChanged = false
        for (id, height) in heights {
            guard let node = nodes[id] else { continue }
            if tree.measure(node, height: height) { hasChanged = true }
        }
        if hasChanged { settle() }
        return hasChanged
    }

    /// Takes the offset to which the reader has scrolled. The first message in sight becomes the anchor, or the bottom.
    public mutating func scroll(toOffset offset: Int) {
        self.offset = clamped(offset)
        remember()
    }

    /// The place that a list scrolls to.
    public enum Target: Hashable, Sendable {
        /// The end of the list.
        case bottom
        /// A row.
        case row(ID)
    }

    /// Scrolls to the bottom, and stays there; or to a row. Does nothing if there is no such row.
    ///
    /// - Parameter share: The position of the row's top on the screen: 0 at the top, 0.5 in the middle. A tall row is
    ///   placed higher, so that as much of it as possible is in sight.
    public mutating func scroll(to target: Target, share: Double = 0) {
        switch target {
        case .bottom: place = .bottom
        case .row(let id):
            guard let node = nodes[id] else { return }
            let visible = max(0, height - inset)
            let wanted = Int(Double(visible) * share)
            place = .row(node: node, distance: min(wanted, max(0, visible - tree.height(node))))
        }
        placements += 1
        settle()
        if isEnd, isAtBottom { place = .bottom }
    }

    /// Changes the size of the screen's list. What is in sight at the top stays, but the keyboard moves what is in
    /// sight at the bottom with it. A reader at the bottom stays there.
    public mutating func resize(height: Int, inset: Int) {
        let growth = inset - self.inset
        self.height = height
        self.inset = inset
        if case .row(let node, let distance) = place { place = .row(node: node, distance: distance - growth) }
        settle()
        remember()
    }

    /// The highest `seq`. Only unsent messages follow the row that has it.
    private var newest: Int64 {
        var next = tree.last
        while let node = next {
            if let seq = tree.row(node).seq { return seq }
            next = tree.previous(node)
        }
        return 0
    }

    /// Takes another anchor if its row is about to be removed: the next message that stays, or the one before.
    private mutating func leave(_ gone: Set<ID>) {
        guard case .row(let node, let distance) = place, gone.contains(tree.row(node).id) else { return }
        let next = message(after: node, without: gone) ?? message(before: node, without: gone)
        let top = tree.above(node).top
        place = next.map { .row(node: $0, distance: distance + tree.above($0).top - top) }
    }

    private mutating func take(_ id: ID) -> Int {
        guard let node = nodes.removeValue(forKey: id) else { preconditionFailure("the list has no row \(id)") }
        tree.remove(node, at: tree.above(node).index)
        return node
    }

    /// Returns the next message. Lines between messages are no anchors, because they may disappear.
    private func message(after node: Int, without gone: Set<ID> = []) -> Int? {
        var next = tree.next(node)
        while let node = next, isNoAnchor(node, gone) { next = tree.next(node) }
        return next
    }

    private func message(before node: Int, without gone: Set<ID> = []) -> Int? {
        var next = tree.previous(node)
        while let node = next, isNoAnchor(node, gone) { next = tree.previous(node) }
        return next
    }

    private func isNoAnchor(_ node: Int, _ gone: Set<ID>) -> Bool {
        tree.row(node).isLine || gone.contains(tree.row(node).id)
    }

    /// The first message that is not completely above the screen, as an anchor.
    private var inSight: Place? {
        guard let first = tree.node(at: offset) else { return nil }
        let node = tree.row(first).isLine ? message(after: first) ?? message(before: first) : first
        return node.map { .row(node: $0, distance: tree.above($0).top - offset) }
    }

    private mutating func remember() {
        place = isEnd && isAtBottom && !tree.isEmpty ? .bottom : inSight
    }

    private func clamped(_ offset: Int) -> Int {
        min(max(offset, 0), maximumOffset)
    }

    /// Moves the anchor to its place, or as near as the ends of the list let it.
    private mutating func settle() {
        switch place {
        case .bottom: offset = maximumOffset
        case .row(let node, let distance):
            let top = tree.above(node).top
            offset = clamped(top - distance)
            place = .row(node: node, distance: top - offset)
        case nil: offset = clamped(offset)
        }
    }
}

extension ListLayout {
    /// Takes the difference of two views. The anchor stays in place.
    ///
    /// - Parameters:
    ///   - difference: The difference from the view that the layout has.
    ///   - isEnd: True if the room ends with these rows: ``Timeline/View/after`` is `end`.
    ///   - scroll: The target of the effect `scroll`; nil without one.
    ///   - share: As for ``scroll(to:share:)``.
    public mutating func apply<Message, Draft>(
        _ difference: Timeline<Message, Draft>.Difference, isEnd: Bool, scroll: Timeline<Message, Draft>.ScrollTarget?,
        share: Double = 0
    ) where ID == Timeline<Message, Draft>.Row.ID {
        func row(_ row: Timeline<Message, Draft>.Row) -> Row {
            switch row.content {
            case .dayLine, .unreadLine: Row(id: row.id, seq: nil, isLine: true)
            case .message, .send: Row(id: row.id, seq: row.seq, isLine: false)
            }
        }
        let target: Target? = scroll.map { if case .row(let id) = $0 { .row(id) } else { .bottom } }
        apply(
            removed: difference.removed.map(\.id), moved: difference.moved.map { ($0.id, $0.to) },
            inserted: difference.inserted.map { (row($0.row), $0.index) },
            updated: difference.updated.map { row($0.row) },
            isEnd: isEnd, scroll: target, share: share)
    }
}

/// Tells a timeline, or a room, where the reader of a list is.
public struct ListReporter: Hashable, Sendable {
    private struct Told: Hashable {
        var atBottom: Bool
        var lastVisible: Int64?
        var placements: Int
    }

    private var told: Told?
    private var wasNearBefore = false
    private var wasNearAfter = false

    /// Creates a reporter that has told nothing.
    public init() {}

    /// Returns what to tell after the reader has scrolled, or the layout has changed: `viewport` if it has changed, or the
    /// list was placed anew; and `near` an edge that has more. An edge that has failed is told again when the reader
    /// comes back to it.
    ///
    /// - Parameters:
    ///   - layout: The layout now.
    ///   - before: The present state of the edge with the oldest messages.
    ///   - after: That of the other edge.
    public mutating func events<ID, Message, Draft>(
        _ layout: ListLayout<ID>, before: Timeline<Message, Draft>.EdgeState, after: Timeline<Message, Draft>.EdgeState
    ) -> [Timeline<Message, Draft>.Event] {
        var events: [Timeline<Message, Draft>.Event] = []
        let now = Told(atBottom: layout.isAtBottom, lastVisible: layout.lastVisible, placements: layout.placements)
        if now != told { events.append(.viewport(atBottom: now.atBottom, lastVisible: now.lastVisible)) }
        told = now
        func isTold(_ state: Timeline<Message, Draft>.EdgeState, isNear: Bool, wasNear: Bool) -> Bool {
            isNear && (state == .idle || (state == .failed && !wasNear))
        }
        let isNearBefore = layout.count > 0 && layout.isNear(.before)
        if isTold(before, isNear: isNearBefore, wasNear: wasNearBefore) { events.append(.near(.before)) }
        wasNearBefore = isNearBefore
        let isNearAfter = layout.count > 0 && layout.isNear(.after)
        if isTold(after, isNear: isNearAfter, wasNear: wasNearAfter) { events.append(.near(.after)) }
        wasNearAfter = isNearAfter
        return events
    }
}

extension ListLayout {
    /// Returns the index of a row in an inverted list, whose first row is the newest; and back.
    public static func inverted(_ index: Int, count: Int) -> Int { count - 1 - index }
}

extension Timeline {
    /// The place of a message's row in its group: the messages one after the other of one sender and one minute.
    ///
    /// A list shows the sender at the first of them, and the time at the last.
    public struct GroupPlace: Hashable, Sendable {
        /// True if the row above is not in the group.
        public let isFirst: Bool
        /// True if the row below is not in the group.
        public let isLast: Bool
    }
}

extension Timeline.View {
    /// Returns the place of a row in its group. A line between messages, and a deleted or folded message, are alone.
    public func groupPlace(at index: Int) -> Timeline.GroupPlace {
        Timeline.GroupPlace(
            isFirst: index == 0 || !Self.isTogether(rows[index - 1], rows[index]),
            isLast: index == rows.count - 1 || !Self.isTogether(rows[index], rows[index + 1]))
    }

    private static func isTogether(_ one: Timeline.Row, _ other: Timeline.Row) -> Bool {
        guard case .message(let first, _) = one.content, case .message(let second, _) = other.content,
            !first.isDeleted, !second.isDeleted, !one.isFolded, !other.isFolded,
            first.senderID.isExactly(second.senderID)
        else { return false }
        return minute(first) == minute(second)
    }

    private static func minute(_ message: Message) -> Int64 {
        let (minute, rest) = message.createdMilliseconds.quotientAndRemainder(dividingBy: 60_000)
        return rest < 0 ? minute - 1 : minute
    }
}
