/// Delivery of messages from the feed to its subscribers, and all changes of their cursors.
extension Feed {
    /// Bytes to send that several subscribers share: those with the same revision and format.
    struct Run {
        let format: PushFormat
        /// The revision of these subscribers.
        let rev: Int64
        let bytes: [UInt8]
        let range: Range<Int>
    }

    // MARK: Sending

    /// Visits all subscribers that have not been visited.
    func finishRounds() {
        while !rounds.areOver, context.knowsAccess { advanceRounds() }
    }

    /// Visits the next subscribers of the round, and sends them the messages that they lack.
    func advanceRounds() {
        var run: Run?
        var left = visits
        // Asked before each visit: a process that is stopped in a round may go on after its term.
        while left > 0, context.admits(self), let index = rounds.next(subscribers: cursors.count) {
            left -= 1
            // Subscriptions that have not started count as laggards too, because they will need these messages.
            if let subscription = deliver(to: index, sharing: &run) { laggard = subscription }
        }
        rounds.beginDueRound(subscribers: cursors.count)
        forgetSent(from: 0)
    }

    /// Sends a subscriber the messages that it lacks, as far as its client takes them. This function sends every
    /// message from the feed.
    ///
    /// - Parameter run: the bytes that were last pushed, for the next subscriber that shares them.
    /// - Returns: the subscriber if it still lacks messages.
    private func deliver(to index: Int, sharing run: inout Run?) -> Subscription? {
        // Nearly all subscribers lack only the latest messages, and their sockets take bytes.
        if push(to: index, sharing: &run) { return nil }
        let subscription = cursors[index].subscription
        // Sending may end the subscription.
        while let index = subscription.index, let carrier = subscription.carrier, cursors[index].awaited == 0 {
            let cursor = cursors[index]
            let reading = cursor.isLive ? messages.next(after: cursor.rev, in: cursor.format) : .behind
            if reading == .level || carrier.isCongested { break }
            if case .frames(let range, let rev) = reading {
                cursors[index].rev = rev
                // No message has these revisions any more.
                if range.isEmpty { continue }
                // This reference keeps the bytes alive even if sending changes the feed.
                let bytes = messages.bytes(in: cursor.format)
                carrier.send(bytes.span.extracting(range))
            } else {
                cursors[index].awaited += 1
                carrier.replay(subscription, since: cursor.rev)
            }
        }
        guard let rev = messages.rev, subscription.rev < rev else { return nil }
        return subscription
    }

    /// Writes the messages that a subscriber lacks to its socket in one call, without accessing its carrier.
    ///
    /// - Returns: true if the subscriber then has every message.
    private func push(to index: Int, sharing run: inout Run?) -> Bool {
        // Read in one access, since each one checks for exclusivity (scenario A of `scripts/compare`).
        guard let (rev, format, outlet) = cursors[index].push else { return false }
        let newest = messages.rev
        if rev == newest { return true }
        guard let outlets = context.outlets else { return false }
        if run?.rev != rev || run?.format != format {
            // Messages too long for one write go through the carrier, in turns with its other subscriptions.
            guard case .frames(let range, newest) = messages.next(after: rev, in: format) else { return false }
            run = Run(format: format, rev: rev, bytes: messages.bytes(in: format), range: range)
        }
        guard let run, !run.range.isEmpty, outlets.push(run.bytes.span.extracting(run.range), to: outlet)
        else { return false }
        context.pushedBytes += run.range.count
        cursors[index].rev = newest!
        return true
    }

    /// Visits the next subscribers with the oldest notice.
    func advanceNotice() {
        guard let (notice, first) = notices.first else { return }
        guard context.knowsAccess else { return notices.removeAll() }
        let end = min(first + visits, cursors.count)
        // A subscriber that moves to a removed subscriber's index may miss the notice.
        for index in first..<max(first, end) where index < cursors.count && cursors[index].isFed {
            cursors[index].subscription.notify(notice)
        }
        if end >= cursors.count { notices.removeFirst() } else { notices[0].next = end }
    }

    // MARK: Cursors

    /// Starts a subscription on a carrier with the first slice of the log.
    func start(_ subscription: Subscription, with slice: ReplaySlice) {
        guard let index = subscription.index else { return }
        cursors[index].outlet = subscription.carrier?.outlet
        replayed(slice, for: subscription)
    }

    /// Sends a subscription the slice that it requested from the log, and continues from there.
    func replayed(_ slice: ReplaySlice, for subscription: Subscription) {
        guard let index = subscription.index, let carrier = subscription.carrier else { return }
        // The user may have lost access since the slice was read. The log looks first when it reads the slice again.
        if !slice.frames.isEmpty, !context.knowsAccess {
            return carrier.replay(subscription, since: cursors[index].rev)
        }
        cursors[index].awaited -= 1
        // While the subscription is held, its user may have lost access to this slice. If not, the slice is read again.
        if cursors[index].awaited > 0, !slice.frames.isEmpty { return }
        cursors[index].rev = max(cursors[index].rev, slice.rev)
        let isNowLive = !slice.hasMore && !cursors[index].isLive
        if isNowLive { cursors[index].isLive = true }
        if !slice.frames.isEmpty { carrier.send(slice.frames.span) }
        if isNowLive { carrier.sendLive(subscription) }
        advance(subscription)
    }

    /// Holds a subscription: it gets nothing until each call has a matching ``release(_:)``.
    func hold(_ subscription: Subscription) {
        if let index = subscription.index { cursors[index].awaited += 1 }
    }

    /// Ends one call of ``hold(_:)``.
    func release(_ subscription: Subscription) {
        guard let index = subscription.index else { return }
        cursors[index].awaited -= 1
        advance(subscription)
    }

    /// Sends a subscription the messages that it lacks, as far as its client takes them.
    func advance(_ subscription: Subscription) {
        guard let index = subscription.index, context.admits(self) else { return }
        var run: Run?
        if deliver(to: index, sharing: &run) == nil, subscription === laggard {
            forgetSent(from: subscription.index ?? 0)
        }
    }
}
