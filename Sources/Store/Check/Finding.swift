/// Something that is to be said of a database that was checked.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The room; `nil` for what is of no room.
    public var room: String?
    /// The message; `nil` for what is of no message.
    public var seq: Int64?
    /// What it is.
    public var text: String

    /// The finding in a line.
    public var description: String {
        // A name that is damaged may be anything.
        let name = room.map { room in room.allSatisfy { $0.isASCII && $0 > " " } ? room : room.debugDescription }
        let place = [name.map { "room \($0)" }, seq.map { "seq \($0)" }].compactMap { $0 }
        return place.isEmpty ? text : "\(place.joined(separator: ", ")): \(text)"
    }
}

/// What was found when a database was checked.
public struct CheckReport: Sendable {
    /// The first ones of what is damaged.
    public fileprivate(set) var damages: [Finding] = []
    /// The number of damages.
    public fileprivate(set) var damageCount = 0
    /// What is no damage, and worth knowing.
    public fileprivate(set) var notes: [Finding] = []
    /// The number of rooms.
    public var rooms: Int64 = 0
    /// The number of messages, those of the journal and tombstones among them.
    public var messages: Int64 = 0

    /// True if nothing is damaged.
    public var isSound: Bool { damageCount == 0 }
}

/// Gathers what is found, as much of it as is wanted.
final class Findings {
    private(set) var report = CheckReport()
    private let most: Int

    /// Of damages the first `most` are kept; all are counted.
    init(most: Int) {
        self.most = most
    }

    /// Adds a damage.
    func add(_ text: String, room: String? = nil, seq: Int64? = nil) {
        report.damageCount += 1
        if report.damages.count < most { report.damages.append(Finding(room: room, seq: seq, text: text)) }
    }

    /// Adds what is worth knowing.
    func note(_ text: String) {
        report.notes.append(Finding(text: text))
    }

    /// Counts rooms and messages.
    func count(rooms: Int64 = 0, messages: Int64 = 0) {
        report.rooms += rooms
        report.messages += messages
    }
}
