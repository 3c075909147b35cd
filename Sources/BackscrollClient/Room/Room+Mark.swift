import BackscrollTimeline

// The user's own read mark.

/// The user's read mark on its way to the server.
struct OwnMark {
    /// The `seq` up to which the user has read.
    var seq: Int64 = 0
    /// The last mark that the server has confirmed.
    var confirmed: Int64 = 0
    /// The history that the marks belong to; nil while it is unknown.
    private(set) var epoch: String?
    /// True while a request for it is under way or planned.
    var isMoving = false
    /// Number of failed requests in a row.
    var failures = 0
    /// True if the next `live` asks the server for the mark, which may have moved on another device.
    var isUnknown = false
    /// The requests that ask for it.
    var asking: Task<Void, Never>?

    /// Begins to follow a history. The marks of another one are dropped, because its messages were others.
    mutating func follow(_ epoch: String) {
        if let known = self.epoch, known != epoch { (seq, confirmed) = (0, 0) }
        self.epoch = epoch
    }
}

extension Room {
    /// Asks the server for the user's mark, which may have moved on another device: a replay brings no marks. Repeats the
    /// request after a temporary error.
    func askForMark() {
        mark.isUnknown = false
        mark.asking?.cancel()
        mark.asking = Task { [weak self, client, id, options] in
            var failures = 0
            while !Task.isCancelled {
                do throws(BackscrollClientError) {
                    let room = try await client.settings(of: id)
                    await self?.receiveMark(of: room)
                    return
                } catch {
                    guard self != nil, error.isTemporary else { return }
                    failures += 1
                    let pause = error.retryAfter ?? options.pause(afterFailures: failures)
                    try? await options.clock.sleep(.seconds(pause))
                }
            }
        }
    }

    private func receiveMark(of room: RoomSummary) {
        guard ending == nil, room.epoch == machine.view.epoch else { return }
        handle(.marked(read: room.read, unread: Int64(room.unread), head: room.head))
        publishSoon()
    }

    /// Sends a stored mark, unless it belongs to another history.
    func sendStoredMark(of stored: StoredRoom) {
        guard let seq = stored.unsentMark else { return }
        if let epoch = stored.epoch {
            if let known = mark.epoch, known != epoch { return }
            mark.follow(epoch)
        }
        sendMarkSoon(seq)
    }

    func sendMarkSoon(_ seq: Int64) {
        mark.seq = max(mark.seq, seq)
        guard !mark.isMoving else { return }
        mark.isMoving = true
        Task { [weak self, options] in
            var pause: Duration? = Self.markDelay
            while let wait = pause {
                try? await options.clock.sleep(wait)
                pause = await self?.sendMark()
            }
        }
    }

    /// Sends the read mark. Unless the room is live, the server may have another history, and is asked first. A store keeps
    /// a mark that the server does not have yet.
    ///
    /// - Returns: the time after which to send it again, because the mark has moved meanwhile, or because of a
    ///   temporary error; nil otherwise.
    func sendMark() async -> Duration? {
        let (seq, epoch) = (mark.seq, mark.epoch)
        do throws(BackscrollClientError) {
            let isLive = machine.view.connection == .live
            let isSame = isLive ? true : try await client.settings(of: id).epoch == epoch
            guard isSame, mark.seq > 0, mark.epoch == epoch else {
                mark.isMoving = false
                return nil
            }
            let room = try await client.moveReadMark(of: id, upTo: seq)
            mark.failures = 0
            if mark.epoch == epoch { mark.confirmed = seq }
            receiveMark(of: room)
            if mark.seq > mark.confirmed { return Self.markDelay }
            record?.setUnsentMark(nil)
            scheduleFlush()
        } catch {
            if ending == nil, error.isTemporary {
                mark.failures += 1
                return .seconds(error.retryAfter ?? options.pause(afterFailures: mark.failures))
            }
        }
        mark.isMoving = false
        return nil
    }
}
