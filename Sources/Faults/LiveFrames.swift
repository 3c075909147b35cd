import HTTP
import WebSocket
import Wire

/// Applies faults to the frames of one live connection: the server's WebSocket frames, or Server-Sent Events.
///
/// The messages of each subscription are numbered from 1, replayed and live ones together. Frames without faults pass as
/// they are, compressed or not.
struct LiveFrames {
    /// The progress of a subscription.
    private struct Progress {
        /// The revision up to which the client was sent the room's changes.
        var rev: Int64
        /// The highest revision that is known from frames, or from answers to other clients.
        var known: Int64
        var number = 0
        /// The number of messages in the current phase, replay or live.
        var numberOfPhase = 0
        var isLive = false
        /// The revisions to send twice.
        var repeated: Set<Int64> = []
    }

    private let plan: FaultPlan
    private let isStream: Bool
    private var rooms: [String: Progress] = [:]
    /// The server's epoch, once a frame has named it.
    private var epoch: String?
    /// Received bytes that are not yet a whole frame.
    private var buffer: [UInt8] = []
    /// Joins and decompresses messages.
    private var reader = MessageReader(
        role: .client, maxMessageBytes: FaultProxy.limits.bodyBytes, allowsCompression: true)

    init(_ plan: FaultPlan, isStream: Bool) {
        self.plan = plan
        self.isStream = isStream
    }

    /// Appends to `out` the bytes to send in place of those received.
    ///
    /// - Returns: True if the connection is to end after them.
    /// - Throws: The rule of RFC 6455 that the server breaks.
    mutating func pass(_ bytes: [UInt8], into out: inout [UInt8]) throws(WebSocketError) -> Bool {
        buffer += bytes
        var start = 0
        defer { buffer.removeFirst(start) }
        while let end = try isStream ? endOfEvent(from: start) : endOfFrame(from: start) {
            let frame = Array(buffer[start..<end])
            start = end
            if pass(frame, try isStream ? Self.data(of: frame) : payload(of: frame), into: &out) { return true }
        }
        return false
    }

    private mutating func pass(_ frame: [UInt8], _ json: [UInt8], into out: inout [UInt8]) -> Bool {
        let facts = Facts(json)
        if let epoch = facts.epoch { self.epoch = epoch }
        switch facts.type {
        case "subscribed":
            rooms[facts.room] = Progress(rev: facts.rev, known: facts.rev)
        case "live":
            rooms[facts.room]?.isLive = true
            rooms[facts.room]?.numberOfPhase = 0
        case "message":
            var progress = rooms[facts.room] ?? Progress(rev: 0, known: 0)
            defer { rooms[facts.room] = progress }
            progress.rev = max(progress.rev, facts.rev)
            progress.known = max(progress.known, facts.rev)
            let times = progress.repeated.remove(facts.rev) == nil ? 1 : 2
            for _ in 0..<times where send(frame, &progress, to: &out) { return true }
            return false
        default: break
        }
        if !isStream, plan[.newEpoch] != nil, let epoch, facts.epoch != nil {
            Frame.append(.text, payload: Epochs.renamed(json, epoch).span, into: &out)
        } else {
            out += renamed(event: frame)
        }
        return false
    }

    /// Sends a message, and returns true if the connection is to end after it.
    private func send(_ message: [UInt8], _ progress: inout Progress, to out: inout [UInt8]) -> Bool {
        progress.number += 1
        progress.numberOfPhase += 1
        var frame = renamed(event: message)
        if !isStream, let length = plan[.fragmentFrames] { frame = Self.fragments(of: message, length: length) }
        if plan[.tornFrame] == progress.number {
            out += frame[..<(frame.count / 2)]
            return true
        }
        if !plan.has(.dropFrame, progress.number) { out += frame }
        if plan.has(.doubleFrame, progress.number) { out += frame }
        return plan[progress.isLive ? .cutLive : .cutReplay] == progress.numberOfPhase
    }

    private func renamed(event: [UInt8]) -> [UInt8] {
        guard isStream, plan[.newEpoch] != nil, let epoch else { return event }
        return Epochs.renamed(event, epoch)
    }

    // MARK: Messages that are pushed twice

    /// Returns the highest known revision of a room; `nil` without a subscription to it.
    func known(of room: String) -> Int64? { rooms[room]?.known }

    /// Takes note of a revision that an answer names.
    mutating func note(_ rev: Int64, in room: String) {
        if let known = known(of: room), known < rev { rooms[room]?.known = rev }
    }

    /// Sends a change of a room again if the client has it; otherwise it will be sent twice when it comes. Subscriptions
    /// that are not live yet do not get it again.
    ///
    /// - Returns: True if the connection is to end.
    mutating func pushAgain(_ message: [UInt8], _ rev: Int64, in room: String, into out: inout [UInt8]) -> Bool {
        guard var progress = rooms[room], progress.isLive else { return false }
        defer { rooms[room] = progress }
        guard progress.rev >= rev else {
            progress.repeated.insert(rev)
            return false
        }
        var json: [UInt8] = []
        ServerFrame.appendMessage(message.span, to: &json)
        var frame: [UInt8] = []
        if isStream {
            frame = Array("event: message\nid: \(epoch ?? ""):\(rev)\ndata: ".utf8) + json + Array("\n\n".utf8)
        } else {
            Frame.append(.text, payload: json.span, into: &frame)
        }
        return send(frame, &progress, to: &out)
    }

    // MARK: Telling frames apart

    private func endOfEvent(from start: Int) -> Int? {
        // No event begins with a line feed, so the first empty line is its end.
        buffer[start...].firstRange(of: "\n\n".utf8)?.upperBound
    }

    /// Returns the JSON of an event; empty for a comment.
    private static func data(of event: [UInt8]) -> [UInt8] {
        let line = event.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "data: ".utf8) }
        return line.map { Array($0.dropFirst(6)) } ?? []
    }

    /// Returns the end of a message, which may have several frames, or of a control frame.
    private func endOfFrame(from start: Int) throws(WebSocketError) -> Int? {
        var offset = start
        while let header = try FrameHeader.decode(from: buffer.span, at: &offset, role: .client, allowsRSV1: true),
            header.payloadLength <= buffer.count - offset
        {
            offset += header.payloadLength
            if header.isFinal { return offset }
        }
        return nil
    }

    /// Returns the text of a message; empty for a control frame.
    private mutating func payload(of frame: [UInt8]) throws(WebSocketError) -> [UInt8] {
        reader.append(frame.span)
        var text: [UInt8] = []
        while true {
            switch try reader.next() {
            case .needMoreBytes: return text
            case .text(let message): text = message
            default: break
            }
        }
    }

    private static func fragments(of message: [UInt8], length: Int) -> [UInt8] {
        var (offset, out): (Int, [UInt8]) = (0, [])
        guard let header = try? FrameHeader.decode(from: message.span, at: &offset, role: .client, allowsRSV1: true),
            header.isFinal
        else { return message }
        var opcode = header.opcode
        repeat {
            let end = min(offset + length, message.count)
            Frame.append(
                opcode, payload: message.span.extracting(offset..<end), isFinal: end == message.count,
                rsv1: header.rsv1 && opcode != .continuation, into: &out)
            opcode = .continuation
            offset = end
        } while offset < message.count
        return out
    }
}
