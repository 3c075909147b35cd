// Requests for pages and their answers (rules 9 to 12).

extension Timeline {
    mutating func near(_ edge: Edge) {
        guard let window else {
            // Without a window both edges show the opening's fetch.
            if opening?.fetch.state == .failed { fetchOpening() }
            return
        }
        readerAt = edge == .before ? window.first : window.last
        let state = edge == .before ? before.state : after.state
        let goesOn = edge == .before ? window.hasBefore : window.hasAfter
        if state == .failed || (state == .idle && goesOn) { fetchEdge(edge) }
    }

    mutating func fetchEdge(_ edge: Edge) {
        guard let first = window?.first, let last = window?.last else { return }
        switch edge {
        case .before:
            before.begin(fetch(.before(first)))
        case .after:
            after.begin(fetch(.after(last)))
            after.from = last
        }
    }

    /// Requests a page, and returns the number of the request.
    mutating func fetch(_ anchor: Query.Anchor) -> Int {
        requests += 1
        effects.append(.fetch(request: requests, Query(anchor: anchor, limit: limit)))
        return requests
    }

    private enum Purpose {
        case opening, jump, before, after
    }

    /// Returns the purpose of a request; nil if its window, opening or jump has ended.
    private func purpose(of request: Int) -> Purpose? {
        if opening?.fetch.request == request { return .opening }
        if jump?.fetch?.request == request { return .jump }
        if before.request == request { return .before }
        if after.request == request { return .after }
        return nil
    }

    var isFetching: Bool {
        opening?.fetch.request != nil || jump?.fetch?.request != nil || before.request != nil || after.request != nil
    }

    mutating func takePage(_ page: Page, request: Int) {
        guard let purpose = purpose(of: request) else { return }
        if purpose == .opening { return open(with: page) }
        guard let epoch, epoch.isExactly(page.epoch) else { return reset() }
        switch purpose {
        case .opening:
            break
        case .before:
            before.succeed()
            extendBefore(page)
        case .after:
            after.succeed()
            extendAfter(page, from: after.from)
        case .jump:
            guard let place = jump?.to else { return }
            jump?.fetch?.succeed()
            rev = max(rev, page.rev)
            becomeWindow(page)
            if place == .read || place == .mention { placeLine(read: page.read, firstUnread: page.firstUnread) }
            findLine()
            scroll(to: nearestTarget(place, in: page))
        }
    }

    mutating func takeFetchFailure(_ failure: Failure, request: Int) {
        guard let purpose = purpose(of: request) else { return }
        if failure.status == 410, purpose != .opening { return reset() }
        func end(_ attempt: inout Attempt, _ elapsed: Double) {
            if failure.isTemporary {
                attempt.failAndWait(now: elapsed, retryAfter: failure.retryAfter)
            } else {
                attempt.fail()
            }
        }
        switch purpose {
        case .opening: end(&opening!.fetch, elapsed)
        case .jump: end(&jump!.fetch!, elapsed)
        case .before: end(&before, elapsed)
        case .after: end(&after, elapsed)
        }
        guard !failure.isTemporary else { return }
        if purpose == .jump || (purpose == .after && isJumpingByEdge) { jump = nil }
    }
}
