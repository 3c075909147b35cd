/// A run of stored messages without a gap, from ``first`` to ``last``.
public struct MessageRun: Hashable, Sendable {
    /// The `seq` of the first message.
    public var first: Int64
    /// The `seq` of the last message; `first - 1` for the run of an empty room.
    public var last: Int64
    /// The room's revision up to which the messages have all their changes. Some may be newer.
    public var rev: Int64
    /// True if the room has messages after ``last`` that a replay since ``rev`` does not bring.
    public var hasAfter: Bool

    /// Creates a run.
    public init(first: Int64, last: Int64, rev: Int64, hasAfter: Bool) {
        self.first = first
        self.last = last
        self.rev = rev
        self.hasAfter = hasAfter
    }

    /// The number of messages.
    public var count: Int64 { last - first + 1 }

    /// Returns true if the run has the message with this `seq`.
    public func contains(_ seq: Int64) -> Bool { seq >= first && seq <= last }
}

/// The runs of a room's messages in a store, which do not overlap. What is between two runs is not stored.
///
/// A replay since a run's ``MessageRun/rev`` brings all changes that the run lacks, so each run can be shown by itself.
/// Runs that touch and have the same `rev` become one.
public struct MessageRuns: Hashable, Sendable {
    /// Maximum number of runs of a room. Beyond it the oldest one is dropped.
    public static let maximumCount = 64

    /// The runs in ascending order.
    public private(set) var runs: [MessageRun]

    /// Creates the runs that a store has kept.
    public init(_ runs: [MessageRun] = []) {
        self.runs = runs.sorted { $0.first < $1.first }
    }

    /// The run with the newest messages.
    public var newest: MessageRun? { runs.last }

    /// Returns the run that has the message with this `seq`.
    public func run(containing seq: Int64) -> MessageRun? {
        let index = firstIndex(endingAtOrAfter: seq)
        return index < runs.count && runs[index].contains(seq) ? runs[index] : nil
    }

    /// Adds the messages of a page. They take the place of those that other runs have there.
    public mutating func insert(_ added: MessageRun) {
        // The run of an empty room adds nothing to other runs.
        if added.count < 1, !runs.isEmpty { return }
        var added = added
        var result: [MessageRun] = []
        for run in runs {
            if run.last < added.first || run.first > added.last {
                result.append(run)
                continue
            }
            if run.first < added.first {
                result.append(.init(first: run.first, last: added.first - 1, rev: run.rev, hasAfter: true))
            }
            if run.last > added.last {
                result.append(.init(first: added.last + 1, last: run.last, rev: run.rev, hasAfter: run.hasAfter))
                added.hasAfter = true
            } else if run.last == added.last, run.rev >= added.rev, !run.hasAfter {
                // The page was read later: a replay brings what came in between.
                added.hasAfter = false
            }
        }
        let place = result.firstIndex { $0.first > added.first } ?? result.count
        result.insert(added, at: place)
        runs = result
        join()
    }

    /// Applies the frames of a socket from one revision to a later one.
    ///
    /// Runs that were complete at `from` or later are complete at `to`. A message next to one of them extends it. If
    /// the newest run reached the end of the room, messages further on become a run of their own.
    ///
    /// - Parameters:
    ///   - from: The revision before the frames.
    ///   - to: The revision after them. All changes in between must be among the frames.
    ///   - seqs: The `seq` of the frames' messages, ascending.
    /// - Returns: The members of `seqs` that are in a run now. The others must not be stored.
    public mutating func advance(from: Int64, to: Int64, messages seqs: [Int64]) -> Set<Int64> {
        for index in runs.indices where runs[index].rev >= from && runs[index].rev < to { runs[index].rev = to }
        var kept: Set<Int64> = []
        for seq in seqs {
            let index = firstIndex(endingAtOrAfter: seq)
            if index < runs.count, runs[index].contains(seq) {
                kept.insert(seq)
            } else if index > 0, runs[index - 1].last + 1 == seq, runs[index - 1].rev == to {
                runs[index - 1].last = seq
                kept.insert(seq)
            } else if index < runs.count, runs[index].first == seq + 1, runs[index].rev == to {
                runs[index].first = seq
                kept.insert(seq)
            } else if index == runs.count, let newest = runs.last, newest.rev == to, !newest.hasAfter {
                runs.append(.init(first: seq, last: seq, rev: to, hasAfter: false))
                kept.insert(seq)
            }
        }
        join()
        return kept
    }

    /// Appends a message that is known from the answer to a request, if it is the next one of the newest run.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`.
    ///   - rev: The message's revision. It must be higher than the run's, because the answer is no position.
    /// - Returns: True if a run has the message now.
    public mutating func append(_ seq: Int64, rev: Int64) -> Bool {
        if run(containing: seq) != nil { return true }
        guard let newest = runs.last, !newest.hasAfter, newest.last + 1 == seq, rev > newest.rev else { return false }
        runs[runs.count - 1].last = seq
        return true
    }

    /// Drops up to `count` of the oldest run's oldest messages.
    ///
    /// - Returns: The dropped messages' numbers; nil if nothing is stored.
    public mutating func dropOldest(_ count: Int64) -> ClosedRange<Int64>? {
        while let oldest = runs.first {
            guard oldest.count > count else {
                runs.removeFirst()
                if oldest.count < 1 { continue }
                return oldest.first...oldest.last
            }
            runs[0].first += count
            return oldest.first...(oldest.first + count - 1)
        }
        return nil
    }

    /// Drops the oldest runs beyond ``maximumCount``.
    ///
    /// - Returns: The dropped runs.
    public mutating func dropExcess() -> [MessageRun] {
        let excess = max(0, runs.count - Self.maximumCount)
        let dropped = Array(runs.prefix(excess))
        runs.removeFirst(excess)
        return dropped
    }

    private func firstIndex(endingAtOrAfter seq: Int64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Joins the runs that touch and have the same revision.
    private mutating func join() {
        var result: [MessageRun] = []
        for run in runs {
            if let last = result.last, last.last + 1 == run.first, last.rev == run.rev {
                result[result.count - 1].last = run.last
                result[result.count - 1].hasAfter = run.hasAfter
            } else {
                result.append(run)
            }
        }
        runs = result
    }
}
