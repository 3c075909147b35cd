import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// Where requests and answers go wrong. Nothing of this happens unless the server was told so at its start.
extension Exchange {
    /// Serves a request as the faults that it asks for have it, if it asks for any.
    ///
    /// - Throws: 400 `invalid_fault`, or the refusal that it asks for.
    func serveWithFaults(_ target: DecodedTarget) throws(Problem) {
        // What a browser asks beforehand has the parameter too, and it is the request itself that is to go wrong.
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

    /// Returns whether a fault keeps the answer from being given now: then it comes later, or never.
    func isWithheld(_ status: HTTPResponse.Status, _ contentType: String, _ body: Span<UInt8>) -> Bool {
        guard let plan = faults else { return false }
        // A client that repeats its send must get on. Where requests are counted, the count sees to that.
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

    /// Has what a change pushes pushed twice, if the request asks for it.
    func doublePush(of ticket: Ticket, in room: RoomID) {
        guard let faults, faults[.doublePush] != nil else { return }
        worker.services.doublePush?.expect(ticket, in: room)
    }

    /// The epoch that the request is to hear of.
    var epoch: String { worker.epoch(faults) }

    /// A list of rooms as the request is to have it.
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
    /// The log's epoch, or the one that a request asks for in its place.
    func epoch(_ faults: FaultPlan?) -> String {
        let epoch = services.log.epoch
        guard let faults, faults[.newEpoch] != nil else { return epoch }
        return epoch + FaultPlan.epochSuffix
    }
}
