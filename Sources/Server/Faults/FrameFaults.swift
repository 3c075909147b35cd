import Chat
import Transport
import WebSocket
import Wire

/// Applies faults to the frames of one subscription.
///
/// Message frames are numbered from 1, replayed and live ones together. Notices pass unchanged.
struct FrameFaults {
    private let plan: FaultPlan
    private let format: PushFormat
    /// The offset in an event where the epoch of its cursor ends; `nil` if events keep their epoch.
    private let cursorOffset: Int?
    private var number = 0
    /// The number of messages in the current phase, replay or live.
    private var numberOfPhase = 0
    private var isLive = false

    /// - Parameters:
    ///   - format: The framing of messages.
    ///   - epoch: The true epoch.
    /// - Returns: `nil` when no fault concerns frames.
    init?(_ plan: FaultPlan, format: PushFormat, epoch: String) {
        let renamesEvents = format == .serverSentEvents && plan[.newEpoch] != nil
        guard renamesEvents || plan.faults.contains(where: \.name.isOfFrames) else { return nil }
        self.plan = plan
        self.format = format
        cursorOffset = renamesEvents ? Self.eventPrefix.utf8CodeUnitCount + epoch.utf8.count : nil
    }

    private static let eventPrefix: StaticString = "event: message\nid: "

    /// Begins the live phase.
    mutating func replayEnded() {
        isLive = true
        numberOfPhase = 0
    }

    /// Appends to `out` the bytes to send instead of `frames`, which are complete.
    ///
    /// - Returns: True if the connection is to end after them.
    mutating func pass(_ frames: Span<UInt8>, into out: inout [UInt8]) -> Bool {
        var offset = 0
        while offset < frames.count {
            let start = offset
            let isMessage = format == .serverSentEvents ? skipEvent(frames, &offset) : skipFrame(frames, &offset)
            let frame = frames.extracting(start..<offset)
            if !isMessage {
                out.append(copying: frame)
            } else if passMessage(frame, into: &out) {
                return true
            }
        }
        return false
    }

    private mutating func passMessage(_ frame: Span<UInt8>, into out: inout [UInt8]) -> Bool {
        number += 1
        numberOfPhase += 1
        if plan[.tornFrame] == number {
            var whole: [UInt8] = []
            append(frame, to: &whole)
            out += whole[..<(whole.count / 2)]
            return true
        }
        if !plan.has(.dropFrame, number) { append(frame, to: &out) }
        if plan.has(.doubleFrame, number) { append(frame, to: &out) }
        return plan[isLive ? .cutLive : .cutReplay] == numberOfPhase
    }

    private func append(_ frame: Span<UInt8>, to out: inout [UInt8]) {
        if let cursorOffset {
            out.append(copying: frame.extracting(..<cursorOffset))
            out.append(utf8: FaultPlan.epochSuffix)
            out.append(copying: frame.extracting(cursorOffset...))
        } else if let length = plan[.fragmentFrames], format != .serverSentEvents {
            appendFragments(of: frame, length: length, to: &out)
        } else {
            out.append(copying: frame)
        }
    }

    private func appendFragments(of frame: Span<UInt8>, length: Int, to out: inout [UInt8]) {
        var offset = 0
        let header = Self.header(frame, &offset)
        var opcode = header.opcode
        repeat {
            let end = min(offset + length, frame.count)
            Frame.append(
                opcode, payload: frame.extracting(offset..<end), isFinal: end == frame.count,
                rsv1: header.rsv1 && opcode != .continuation, into: &out)
            opcode = .continuation
            offset = end
        } while offset < frame.count
    }

    // MARK: Telling frames apart

    /// Moves `offset` past a WebSocket frame, and returns true if the frame carries a message. Only messages are
    /// compressed.
    private func skipFrame(_ frames: Span<UInt8>, _ offset: inout Int) -> Bool {
        let header = Self.header(frames, &offset)
        let payload = frames.extracting(offset..<offset + header.payloadLength)
        offset += header.payloadLength
        return header.rsv1 || payload.begins(with: ServerFrame.messagePrefix)
    }

    /// Moves `offset` past an event, which ends with an empty line, and returns true if it carries a message.
    private func skipEvent(_ events: Span<UInt8>, _ offset: inout Int) -> Bool {
        let isMessage = events.extracting(offset...).begins(with: Self.eventPrefix)
        // No event begins with a line feed, so the first empty line is its end.
        let lineFeed = UInt8(ascii: "\n")
        offset += 1
        while offset < events.count {
            offset += 1
            if events[offset - 2] == lineFeed, events[offset - 1] == lineFeed { break }
        }
        return isMessage
    }

    private static func header(_ frames: Span<UInt8>, _ offset: inout Int) -> FrameHeader {
        guard let header = try? FrameHeader.decode(from: frames, at: &offset, role: .client, allowsRSV1: true),
            header.payloadLength <= frames.count - offset
        else { preconditionFailure("what the server sends are whole frames") }
        return header
    }
}

extension Span<UInt8> {
    /// Returns true if the bytes begin with those of `text`.
    fileprivate func begins(with text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            text.count <= count && text.indices.allSatisfy { text[$0] == self[$0] }
        }
    }
}

/// A carrier that wraps another one and injects faults into its frames.
///
/// The subscription treats it as its carrier, and the wrapped carrier owns it. Requests without faults have no wrapper.
final class FaultyCarrier: SubscriptionCarrier {
    private unowned let carrier: any SubscriptionCarrier
    private let connection: Connection
    private var faults: FrameFaults

    fileprivate init(_ faults: FrameFaults, before carrier: any SubscriptionCarrier, on connection: Connection) {
        self.faults = faults
        self.carrier = carrier
        self.connection = connection
    }

    var isCongested: Bool { carrier.isCongested }

    func send(_ frames: Span<UInt8>) {
        var left: [UInt8] = []
        let isEnd = faults.pass(frames, into: &left)
        if !left.isEmpty { carrier.send(left.span) }
        // The frames sent so far still arrive; then the connection ends without a close handshake.
        if isEnd { connection.finish() }
    }

    func sendLive(_ subscription: Subscription) {
        faults.replayEnded()
        carrier.sendLive(subscription)
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        carrier.replay(subscription, since: rev)
    }

    func ended(_ subscription: Subscription, because problem: Problem) {
        carrier.ended(subscription, because: problem)
    }
}

extension FaultPlan {
    /// Returns a carrier that injects this plan's faults into a subscription; `nil` when none of them concerns frames.
    /// The wrapped carrier must keep it for as long as the subscription lasts.
    func carrier(
        of subscription: Subscription, before carrier: any SubscriptionCarrier, on connection: Connection
    ) -> FaultyCarrier? {
        FrameFaults(self, format: subscription.format, epoch: subscription.feed.context.epoch)
            .map { FaultyCarrier($0, before: carrier, on: connection) }
    }
}
