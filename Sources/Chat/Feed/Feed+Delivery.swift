/// The way of messages from the feed to its subscribers, and all changes of their cursors.
extension Feed {
    /// Bytes to send that several subscribers share: those that are at the same revision and want the same format.
    struct Run {
        let format: PushFormat
        /// The revision at which the subscribers are.
        let rev: Int64
        let bytes: [UInt8]
        let range: Range<Int>
    }

    // MARK: Sending

    /// Visits all subscribers that are still to be visited.
    func finishRounds() {
        while !rounds.areOver { advanceRounds() }
    }

    /// Sends the next subscribers of the round what they lack.
    func advanceRounds() {
        var run: Run?
        var left = visits
        while left > 0, let place = rounds.next(seats: cursors.count) {
            left -= 1
            // Subscriptions that have not started count as laggards too: they will get these messages.
            if let subscription = deliver(to: place, sharing: &run) { laggard = subscription }
        }
        rounds.beginDueRounds(seats: cursors.count)
        forgetSent(from: 0)
    }

    /// Sends a subscriber what it lacks, as far as its client takes it. Every message from the feed is sent by this
    /// function.
    ///
    /// - Parameter run: the bytes that were last pushed, for the next subscriber that shares them.
    /// - Returns: the subscriber if it still lacks something.
    private func deliver(to place: Int, sharing run: inout Run?) -> Subscription? {
        // Nearly all subscribers lack only the latest messages, and their sockets take bytes.
        if push(to: place, sharing: &run) { return nil }
        let subscription = cursors[place].subscription
        // Sending may end the subscription.
        while let place = subscription.place, let carrier = subscription.carrier, cursors[place].awaited == 0 {
            let cursor = cursors[place]
            let reading = cursor.isLive ? messages.next(after: cursor.rev, in: cursor.format) : .behind
            if reading == .level || carrier.isCongested { break }
            if case .frames(let range, let rev) = reading {
                cursors[place].rev = rev
                // A reference to the bytes keeps them, whatever sending brings about.
                let bytes = messages.bytes(in: cursor.format)
                carrier.send(bytes.span.extracting(range))
            } else {
                cursors[place].awaited += 1
                carrier.replay(subscription, since: cursor.rev)
            }
        }
        guard let rev = messages.rev, subscription.rev < rev else { return nil }
        return subscription
    }

    /// Writes what a subscriber lacks to its socket in one call, without touching its carrier.
    ///
    /// - Returns: true if the subscriber has everything now.
    private func push(to place: Int, sharing run: inout Run?) -> Bool {
        guard cursors[place].isFed else { return false }
        let rev = cursors[place].rev
        if rev == messages.rev { return true }
        guard let outlets = context.outlets, let outlet = cursors[place].outlet else { return false }
        let format = cursors[place].format
        if run?.rev != rev || run?.format != format {
            // Messages too long for one write take turns with the carrier's other subscriptions.
            guard case .frames(let range, messages.rev) = messages.next(after: rev, in: format) else { return false }
            run = Run(format: format, rev: rev, bytes: messages.bytes(in: format), range: range)
        }
        guard let run, outlets.push(run.bytes.span.extracting(run.range), to: outlet) else { return false }
        context.pushedBytes += run.range.count
        cursors[place].rev = messages.rev!
        return true
    }

    /// Visits the next subscribers with the oldest notice.
    func advanceNotice() {
        guard let (notice, first) = notices.first else { return }
        let end = min(first + visits, cursors.count)
        // A subscriber that moves to the place of one that has left may miss the notice.
        for place in first..<max(first, end) where place < cursors.count && cursors[place].isFed {
            cursors[place].subscription.notify(notice)
        }
        if end >= cursors.count { notices.removeFirst() } else { notices[0].next = end }
    }

    /// Sends one message once more to those subscribers that have it and whose clients take it at once. Only a server that
    /// is told to misbehave does so. What the feed keeps stays as it is.
    ///
    /// - Parameter batch: a batch of one message.
    public func pushAgain(_ batch: EncodedBatch) {
        finishRounds()
        for cursor in cursors where cursor.isFed && cursor.rev >= batch.firstRev {
            guard let carrier = cursor.subscription.carrier, !carrier.isCongested else { continue }
            let bytes = batch.encoded(as: cursor.format, in: context).bytes
            carrier.send(bytes.span)
        }
    }

    // MARK: Cursors

    /// Lets a subscription's messages go to the carrier's socket, beginning with the first slice of the log.
    func start(_ subscription: Subscription, with slice: ReplaySlice) {
        guard let place = subscription.place else { return }
        cursors[place].outlet = subscription.carrier?.outlet
        replayed(slice, for: subscription)
    }

    /// Sends a slice that was read from the log for a subscription, and goes on from there.
    func replayed(_ slice: ReplaySlice, for subscription: Subscription) {
        guard let place = subscription.place, let carrier = subscription.carrier else { return }
        cursors[place].awaited -= 1
        // While the subscription is held, its user may have lost access to this. It is read again if not.
        if cursors[place].awaited > 0, !slice.frames.isEmpty { return }
        cursors[place].rev = max(cursors[place].rev, slice.rev)
        let isNowLive = !slice.hasMore && !cursors[place].isLive
        if isNowLive { cursors[place].isLive = true }
        if !slice.frames.isEmpty { carrier.send(slice.frames.span) }
        if isNowLive { carrier.sendLive(subscription) }
        advance(subscription)
    }

    /// Sends nothing to a subscription until as many calls of ``release(_:)``.
    func hold(_ subscription: Subscription) {
        if let place = subscription.place { cursors[place].awaited += 1 }
    }

    /// Balances a call of ``hold(_:)``.
    func release(_ subscription: Subscription) {
        guard let place = subscription.place else { return }
        cursors[place].awaited -= 1
        advance(subscription)
    }

    /// Sends a subscription what it lacks, as far as its client takes it.
    func advance(_ subscription: Subscription) {
        guard let place = subscription.place else { return }
        var run: Run?
        if deliver(to: place, sharing: &run) == nil, subscription === laggard {
            forgetSent(from: subscription.place ?? 0)
        }
    }
}
