import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// Injection of faults into requests and answers. Active only if the server was started with `--faults`.
extension Exchange {
    /// Serves a request with the faults that it asks for.
    ///
    /// - Throws: 400 `invalid_fault`, or the requested refusal.
    func serveWithFaults(_ target: DecodedTarget) throws(Problem) {
        // A browser's preflight request has the parameter, too, but the faults are meant for the request itself.
        guard request.method != .options, let wanted = try FaultPlan(request, target) else { return try serve(target) }
        let path = target.segments.joined(separator: "/")
        let plan = worker.services.faultCounts.map { wanted.due(request.method, path, $0) } ?? wanted
        faults = plan
        guard let milliseconds = plan[.delay] else { return try serve(target, unless: plan.refusal) }
        worker.loop.after(.milliseconds(milliseconds)) { [self] in
            do throws(Problem) {
                try serve(target, unless: plan.refusal)
            } catch {
                answer(error)
            }
        }
    }

    private func serve(_ target: DecodedTarget, unless refusal: Problem?) throws(Problem) {
        if let refusal { throw refusal }
        try serve(target)
    }

    /// Returns true if a fault withholds the answer, which then comes later or never.
    func isWithheld(_ status: HTTPResponse.Status, _ contentType: String, _ body: Span<UInt8>) -> Bool {
        guard let plan = faults else { return false }
        // A client that repeats its send must succeed. Counted faults end by themselves.
        let isRepeatedSend = request.method == .post && status == .ok
        if let lost = plan.fault(.lostAnswer), lost.occasions != .all || !isRepeatedSend {
            takeHTTP()?.connection.finish()
            return true
        }
        guard let milliseconds = plan[.lateAnswer] else { return false }
        faults = nil
        var content: [UInt8] = []
        content.append(copying: body)
        worker.loop.after(.milliseconds(milliseconds)) { [self, content] in
            answer(status, contentType: contentType, body: content.span)
        }
        return true
    }

    /// Pushes the change's messages twice, if the request asks for it.
    func doublePush(of ticket: Ticket, in room: RoomID) {
        guard let faults, faults[.doublePush] != nil else { return }
        worker.services.doublePush?.expect(ticket, in: room)
    }

    /// The epoch that the request's answers name.
    var epoch: String { worker.epoch(faults) }

    /// Returns a list of rooms with the epoch that the request's answers name.
    func withEpoch(_ slice: InboxSlice) -> InboxSlice {
        guard let faults, faults[.newEpoch] != nil else { return slice }
        let epoch = epoch
        var slice = slice
        for index in slice.rooms.indices { slice.rooms[index].summary.epoch = epoch }
        slice.next?.epoch = epoch
        return slice
    }
}

extension Worker {
    /// Returns the log's epoch, or the one that a request asks for in its place.
    func epoch(_ faults: FaultPlan?) -> String {
        let epoch = services.log.epoch
        guard let faults, faults[.newEpoch] != nil else { return epoch }
        return epoch + FaultPlan.epochSuffix
    }
}
