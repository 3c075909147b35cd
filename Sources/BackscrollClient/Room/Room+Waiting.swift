import BackscrollTimeline

// Calls that wait for a state, and the states that are shown.

extension Room {
    typealias Condition = @Sendable (isolated Room) -> Result<Void, BackscrollClientError>?

    struct Waiter {
        let condition: Condition
        let continuation: CheckedContinuation<Result<Void, BackscrollClientError>, Never>
    }

    /// Waits until the condition gives a result, the room ends, or the task is cancelled.
    func wait(until condition: @escaping Condition) async throws(BackscrollClientError) {
        if let result = condition(self) { return try result.get() }
        try checkOpen()
        lastWaiter += 1
        let number = lastWaiter
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters[number] = Waiter(condition: condition, continuation: continuation)
            }
        } onCancel: {
            Task { await self.cancelWaiter(number) }
        }
        try result.get()
    }

    func cancelWaiter(_ number: Int) {
        waiters.removeValue(forKey: number)?.continuation.resume(returning: .failure(.isCancelled))
    }

    func wakeWaiters() {
        for (number, waiter) in waiters {
            guard let result = waiter.condition(self) ?? ending.map({ .failure($0) }) else { continue }
            waiters[number] = nil
            waiter.continuation.resume(returning: result)
        }
    }

    // MARK: Publishing

    /// Waits for a state that is newer than `version`. Returns nil at the end.
    func next(after version: Int) async -> RoomState? {
        while shown.version <= version {
            if ending != nil { return self.version > version ? state : nil }
            do throws(BackscrollClientError) {
                try await wait { room in room.shown.version > version ? .success(()) : nil }
            } catch {
                if error.code == BackscrollClientError.cancelled { return nil }
            }
        }
        return state
    }

    var state: RoomState {
        RoomState(
            version: version, view: machine.view, scroll: scroll, readers: readers, readership: readership,
            storeFailure: storeFailure, ending: ending)
    }

    /// Shows the present state: in ``changes``, and on the main actor.
    func publish() async {
        shown.version = version
        shown.at = .now
        wakeWaiters()
        await timeline.show(state)
    }

    /// Schedules showing the state. Events that come until then are shown with it.
    func publishSoon() {
        guard !shown.isScheduled else { return }
        shown.isScheduled = true
        Task {
            let pause = Self.showInterval - (shown.at.map { .now - $0 } ?? Self.showInterval)
            if pause > .zero { try? await Task.sleep(for: pause) } else { await Task.yield() }
            shown.isScheduled = false
            await publish()
        }
    }
}

/// The content of the screen at a moment.
struct RoomState: Sendable {
    /// A number that grows with each state.
    let version: Int
    let view: RoomView
    /// The last place to scroll to, and the version that asked for it.
    let scroll: (target: RoomMachine.ScrollTarget, version: Int)?
    let readers: [String: Int64]
    let readership: Readership?
    let storeFailure: BackscrollClientError?
    let ending: BackscrollClientError?
}

/// The state that was shown last.
struct Shown: Sendable {
    /// The room's version then. Loops over ``Room/changes`` wait for a later one.
    var version = 1
    /// The time then; nil before the first.
    var at: ContinuousClock.Instant?
    /// True while the next is scheduled.
    var isScheduled = false
}
