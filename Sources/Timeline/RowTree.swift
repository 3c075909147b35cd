/// Rows in order, each with a height: a balanced tree (a treap) whose nodes are numbers.
///
/// Each node knows the number of rows below it and the sum of their heights.
struct RowTree<Row: Sendable>: Sendable {
    private struct Node: Sendable {
        var row: Row
        var height: Int
        var isMeasured = false
        /// A random number. No child has a higher one, which keeps the tree balanced.
        let priority: UInt32
        var left = -1
        var right = -1
        var parent = -1
        var count = 1
        var total: Int

        init(row: Row, height: Int, priority: UInt32) {
            self.row = row
            self.height = height
            self.priority = priority
            total = height
        }
    }

    private var nodes: [Node] = []
    /// The numbers of nodes that are no longer used.
    private var free: [Int] = []
    private var root = -1
    private var random: UInt32 = 0x2545_f491

    var isEmpty: Bool { root < 0 }

    /// The sum of all heights.
    var total: Int { total(root) }

    func row(_ node: Int) -> Row { nodes[node].row }

    func height(_ node: Int) -> Int { nodes[node].height }

    func isMeasured(_ node: Int) -> Bool { nodes[node].isMeasured }

    mutating func setRow(_ row: Row, _ node: Int) {
        nodes[node].row = row
    }

    // MARK: Finding

    /// Returns the number of rows before a row, and the sum of their heights.
    func above(_ node: Int) -> (index: Int, top: Int) {
        var index = count(nodes[node].left)
        var top = total(nodes[node].left)
        var child = node
        var parent = nodes[node].parent
        while parent >= 0 {
            if nodes[parent].right == child {
                index += nodes[parent].count - nodes[child].count
                top += nodes[parent].total - nodes[child].total
            }
            child = parent
            parent = nodes[child].parent
        }
        return (index, top)
    }

    func node(index: Int) -> Int? {
        var node = root
        var rest = index
        while node >= 0 {
            let before = count(nodes[node].left)
            if rest == before { return node }
            if rest < before {
                node = nodes[node].left
            } else {
                rest -= before + 1
                node = nodes[node].right
            }
        }
        return nil
    }

    /// Returns the row at a distance from the top of the first one, or the nearest.
    func node(at height: Int) -> Int? {
        var node = root
        var rest = height
        while node >= 0 {
            let above = total(nodes[node].left)
            if nodes[node].left >= 0, rest < above {
                node = nodes[node].left
            } else if nodes[node].right < 0 || rest < above + nodes[node].height {
                return node
            } else {
                rest -= above + nodes[node].height
                node = nodes[node].right
            }
        }
        return nil
    }

    var last: Int? {
        var node = root
        while node >= 0, nodes[node].right >= 0 { node = nodes[node].right }
        return node >= 0 ? node : nil
    }

    func next(_ node: Int) -> Int? {
        var next = nodes[node].right
        if next >= 0 {
            while nodes[next].left >= 0 { next = nodes[next].left }
            return next
        }
        next = node
        while nodes[next].parent >= 0, nodes[nodes[next].parent].right == next { next = nodes[next].parent }
        return nodes[next].parent >= 0 ? nodes[next].parent : nil
    }

    func previous(_ node: Int) -> Int? {
        var next = nodes[node].left
        if next >= 0 {
            while nodes[next].right >= 0 { next = nodes[next].right }
            return next
        }
        next = node
        while nodes[next].parent >= 0, nodes[nodes[next].parent].left == next { next = nodes[next].parent }
        return nodes[next].parent >= 0 ? nodes[next].parent : nil
    }

    // MARK: Changing

    /// Creates the node of a row, which is not in the tree yet.
    mutating func make(_ row: Row, height: Int) -> Int {
        // xorshift
        random ^= random << 13
        random ^= random >> 17
        random ^= random << 5
        let node = Node(row: row, height: height, priority: random)
        if let number = free.popLast() {
            nodes[number] = node
            return number
        }
        nodes.append(node)
        return nodes.count - 1
    }

    mutating func insert(_ node: Int, at index: Int) {
        let (before, after) = split(root, index)
        setRoot(join(join(before, node), after))
    }

    /// Takes a row out of the tree, and keeps its node.
    mutating func remove(_ node: Int, at index: Int) {
        let (before, rest) = split(root, index)
        let after = split(rest, 1).1
        setRoot(join(before, after))
        nodes[node].left = -1
        nodes[node].right = -1
        nodes[node].parent = -1
        refresh(node)
    }

    /// Forgets the node of a row that is not in the tree.
    mutating func release(_ node: Int) {
        free.append(node)
    }

    /// Sets a row's height, and returns true if it was another one.
    mutating func measure(_ node: Int, height: Int) -> Bool {
        nodes[node].isMeasured = true
        let growth = height - nodes[node].height
        if growth == 0 { return false }
        nodes[node].height = height
        var place = node
        while place >= 0 {
            nodes[place].total += growth
            place = nodes[place].parent
        }
        return true
    }

    private func count(_ node: Int) -> Int { node < 0 ? 0 : nodes[node].count }

    private func total(_ node: Int) -> Int { node < 0 ? 0 : nodes[node].total }

    private mutating func setRoot(_ node: Int) {
        root = node
        if node >= 0 { nodes[node].parent = -1 }
    }

    /// Sums up the children of a node, and makes it their parent.
    private mutating func refresh(_ node: Int) {
        let (left, right) = (nodes[node].left, nodes[node].right)
        nodes[node].count = 1 + count(left) + count(right)
        nodes[node].total = nodes[node].height + total(left) + total(right)
        if left >= 0 { nodes[left].parent = node }
        if right >= 0 { nodes[right].parent = node }
    }

    private mutating func join(_ left: Int, _ right: Int) -> Int {
        if left < 0 || right < 0 { return max(left, right) }
        if nodes[left].priority > nodes[right].priority {
            nodes[left].right = join(nodes[left].right, right)
            refresh(left)
            return left
        }
        nodes[right].left = join(left, nodes[right].left)
        refresh(right)
        return right
    }

    /// Splits a tree into the first `count` rows and the others.
    private mutating func split(_ node: Int, _ count: Int) -> (Int, Int) {
        if node < 0 { return (-1, -1) }
        let before = self.count(nodes[node].left) + 1
        if count < before {
            let (first, rest) = split(nodes[node].left, count)
            nodes[node].left = rest
            refresh(node)
            return (first, node)
        }
        let (first, rest) = split(nodes[node].right, count - before)
        nodes[node].right = first
        refresh(node)
        return (node, rest)
    }
}
