/// A finding of a check.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The room; `nil` if the finding is not about a room.
    public var room: String?
    /// The message; `nil` if the finding is not about a message.
    public var seq: Int64?
    /// The text of the finding.
    public var text: String

    /// The finding in one line.
    public var description: String {
        // A damaged name may hold any bytes.
        let name = room.map { room in room.allSatisfy { $0.isASCII && $0 > " " } ? room : room.debugDescription }
        let location = [name.map { "room \($0)" }, seq.map { "seq \($0)" }].compactMap { $0 }
        return location.isEmpty ? text : "\(location.joined(separator: ", ")): \(text)"
    }
}

/// The result of a check.
public struct CheckReport: Sendable {
    /// The first damages, up to the number that is kept.
    public fileprivate(set) var damages: [Finding] = []
    /// The number of damages.
    public fileprivate(set) var damageCount = 0
    /// Findings that are not damage.
    public fileprivate(set) var notes: [Finding] = []
    /// The number of rooms.
    public var rooms: Int64 = 0
    /// The number of messages, including tombstones and unfiled messages.
    public var messages: Int64 = 0

    /// True if there is no damage.
    public var isSound: Bool { damageCount == 0 }
}

/// Collects findings up to a limit.
final class Findings {
    private(set) var report = CheckReport()
    private let most: Int

    /// Creates an empty collection that keeps the first `most` damages and counts all.
    init(most: Int) {
        self.most = most
    }

    /// Adds a damage.
    func add(_ text: String, room: String? = nil, seq: Int64? = nil) {
        report.damageCount += 1
        if report.damages.count < most { report.damages.append(Finding(room: room, seq: seq, text: text)) }
    }

    /// Adds a finding that is not damage.
    func note(_ text: String) {
        report.notes.append(Finding(text: text))
    }

    /// Adds to the counts of rooms and messages.
    func count(rooms: Int64 = 0, messages: Int64 = 0) {
        report.rooms += rooms
        report.messages += messages
    }
}
