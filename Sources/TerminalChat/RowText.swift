import BackscrollClient
import BackscrollTimeline
import Wire

/// A row as lines of text.
struct RowText {
    let lines: [String]

    /// Lays out a row in lines of at most `width` characters.
    init(_ row: RoomRow, width: Int) {
        switch row.content {
        case .dayLine(let day): lines = ["── \(day) ──"]
        case .unreadLine: lines = ["── new ──"]
        case .message(let message, _):
            let milliseconds = message.createdMilliseconds
            let minutes = milliseconds / 60_000 % 1440
            let time = "\(Self.padded(minutes / 60)):\(Self.padded(minutes % 60))"
            var parts: [String] = []
            if message.isDeleted { parts.append("(deleted)") }
            if let seq = message.replyTo { parts.append("(to \(seq))") }
            if !message.text.isEmpty { parts.append(message.text) }
            for file in message.attachments {
                let size = file.width.map { " \($0)×\(file.height ?? 0)" } ?? ""
                parts.append("[\(file.kind.rawValue)\(size) \(file.url)]")
            }
            if message.editedAt != nil { parts.append("(edited)") }
            for reaction in message.reactions { parts.append("\(reaction.key) \(reaction.count)") }
            lines = Self.wrapped("\(time) \(message.senderID): \(parts.joined(separator: " "))", width: width)
        case .send(let draft, .failed(let code)):
            lines = Self.wrapped(
                "  !!! \(draft.text) (\(code ?? "refused"): Ctrl-R sends it again, Ctrl-X discards it)", width: width)
        case .send(let draft, _):
            lines = Self.wrapped("  ... \(draft.text)", width: width)
        }
    }

    /// A number of unread messages. Beyond the last number nobody counts.
    static func count(_ unread: Int64) -> String {
        unread >= RoomSummary.countedUnread ? "\(RoomSummary.countedUnread)+" : "\(unread)"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Breaks text into lines. Control characters could be commands for the terminal, so they are shown as a mark.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var count = 0
        func end() {
            lines.append(line)
            line = ""
            count = 0
        }
        for character in text {
            if character.isNewline {
                end()
                continue
            }
            if count >= max(width, 1) { end() }
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            line.append(isControl ? "\u{FFFD}" : character)
            count += 1
        }
        end()
        return lines
    }
}
