// The unread line (rule 2).

extension Timeline {
    /// Starts the search for an opening's unread line, or places it where the page says.
    mutating func startLine(read pageRead: Int64? = nil, firstUnread: Int64? = nil) {
        line = read.map { UnreadLine(position: .searching(mark: $0, searched: $0)) }
        openingHead = isLive ? head : nil
        placeLine(read: pageRead, firstUnread: firstUnread)
    }

    /// Places the line before a page's `firstUnread`, unless the mark has moved past the page's mark.
    mutating func placeLine(read pageRead: Int64?, firstUnread: Int64?) {
        guard let firstUnread, line?.place != firstUnread else { return }
        if pageRead ?? read ?? 0 < read ?? 0 { return }
        line = UnreadLine(position: .at(firstUnread, isTaken: false))
    }

    /// Places an opening's line once the window reaches from the first message of others back to the mark. The search
    /// ends with the messages that were there by the first `live`.
    mutating func findLine() {
        guard case .searching(let mark, var searched) = line?.position, let window else { return }
        let end = openingHead ?? .max
        if window.reachesBack(to: mark) {
            var seq = max(searched + 1, window.first)
            while seq <= end, let message = window.message(seq) {
                if !isMine(message) {
                    line?.position = .at(seq, isTaken: false)
                    return
                }
                searched = seq
                seq += 1
            }
        }
        line?.position = .searching(mark: mark, searched: searched)
        if searched >= end { line = nil }
    }

    var isLineDrawn: Bool {
        guard let place = line?.place else { return false }
        return window?.has(place) == true
    }

    /// The message that the line stands before, even if it is not drawn; nil if there is none. During the search, a
    /// message outside the window counts as one of another user.
    private var lineSeq: Int64? {
        switch line?.position {
        case nil: return nil
        case .at(let seq, _): return seq
        case .searching(_, let searched):
            let end = min(openingHead ?? .max, head)
            var seq = searched + 1
            while seq <= end, let message = window?.message(seq), isMine(message) { seq += 1 }
            return seq <= end ? seq : nil
        }
    }

    /// Gives the line to a new message of others that the reader does not follow, unless it stands before unseen ones.
    mutating func takeLine(_ seq: Int64) {
        let isMissed = isAbsent && window?.hasAfter == false
        if jump?.to == .last || (openingHead == nil && !isMissed) { return }
        if let line, let place = lineSeq {
            let isPassed = line.wasAtBottom && read ?? 0 >= place
            var isLower = false
            if case .at(let taken, isTaken: true) = line.position { isLower = seq < taken }
            if !isPassed, !isLower { return }
        }
        line = UnreadLine(position: .at(seq, isTaken: true))
    }

    /// Notes that the reader is at the bottom of a window which has the line's message, or begins after it.
    mutating func noteLineSeen() {
        guard let line, !line.wasAtBottom, isAtBottom, let window else { return }
        let isReached =
            switch line.position {
            case .at(let seq, _): seq <= window.last
            case .searching(let mark, _): !window.reachesBack(to: mark)
            }
        if isReached { self.line?.wasAtBottom = true }
    }
}
