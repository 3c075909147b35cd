import BackscrollClient
import BackscrollTimeline
import Dispatch
import Glibc

/// A room on the terminal: the history, and a line to write in.
@MainActor
final class TerminalScreen {
    private let room: Room
    private var view: RoomView
    private var input = ""
    private var notice = ""
    /// The lowest row in sight; nil to follow the newest.
    private var bottom: RoomRow.ID?
    private var isLoading = false

    init(room: Room) {
        self.room = room
        view = room.timeline.view
    }

    /// Shows the room until the user leaves or the room ends.
    func run() async {
        var saved = termios()
        tcgetattr(0, &saved)
        var raw = saved
        cfmakeraw(&raw)
        tcsetattr(0, TCSANOW, &raw)
        // The alternate screen keeps the earlier content of the terminal.
        writeOut("\u{1B}[?1049h")
        defer {
            writeOut("\u{1B}[?1049l")
            tcsetattr(0, TCSANOW, &saved)
        }
        let keys = Self.keys()
        let showing = room.onChange { [weak self] change in self?.show(change) }
        let taking = Task { for await key in keys where await !take(key) { break } }
        let ending = Task {
            await showing.value
            taking.cancel()
        }
        await taking.value
        showing.cancel()
        ending.cancel()
        if let error = room.timeline.ending { writeOut("\r\n\(error)\r\n") }
    }

    // MARK: Showing

    private func show(_ change: RoomChange) {
        // Only `scroll` and the reader move the list. What an absence brings comes below the rows in sight.
        if bottom == nil, change.scroll == nil { bottom = view.rows.last?.id }
        view = change.view
        if bottom == view.rows.last?.id || !view.rows.contains(where: { $0.id == bottom }) { bottom = nil }
        switch change.scroll {
        case .bottom: bottom = nil
        case .row(let id):
            // If the rows fill the screen, the row is in the middle.
            let index = view.rows.firstIndex { $0.id == id } ?? 0
            setBottom(max(index + height / 2, min(height, view.rows.count) - 1))
        case nil: break
        }
        draw()
    }

    private var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Number of lines for the history.
    private var height: Int { max(size.lines - 3, 1) }

    private func draw() {
        let width = size.columns
        let end = bottom.flatMap { id in view.rows.firstIndex { $0.id == id } } ?? view.rows.count - 1
        var lines: [String] = []
        var index = end
        while index >= 0, lines.count < height {
            lines = RowText(view.rows[index], width: width).lines + lines
            index -= 1
        }
        if index < height, view.before == .idle { load(.before) }
        if end > view.rows.count - height, view.after == .idle { load(.after) }
        lines = Array(lines.suffix(height))

        var status = ["\(room.id)", view.connection.rawValue]
        if let online = view.online { status.append("\(online) online") }
        if view.unread > 0 { status.append("\(RowText.count(view.unread)) unread") }
        var below = view.typing.isEmpty ? "" : view.typing.joined(separator: ", ") + " is typing"
        if let toast = view.unreadToast { below = "\(toast.count) new: press End. " + below }
        if !notice.isEmpty { below = notice }
        let texts =
            [status.joined(separator: " · ")] + lines
            + Array(repeating: "", count: height - lines.count) + [below, "> " + input.suffix(max(width - 3, 1))]
        let shown = texts.map { RowText.wrapped($0, width: width)[0] + "\u{1B}[K" }
        writeOut("\u{1B}[H" + shown.joined(separator: "\r\n"))

        let lastVisible = view.rows[..<min(end + 1, view.rows.count)].last { $0.seq != nil }?.seq
        Task { await room.setViewport(atBottom: bottom == nil && view.after == .end, lastVisible: lastVisible) }
    }

    /// Scrolls so that the row at an index is the lowest in sight.
    private func setBottom(_ index: Int) {
        bottom = index >= view.rows.count - 1 ? nil : view.rows[max(index, 0)].id
    }

    private func scroll(by rows: Int) {
        guard !view.rows.isEmpty else { return }
        let end = bottom.flatMap { id in view.rows.firstIndex { $0.id == id } } ?? view.rows.count - 1
        setBottom(max(end + rows, min(height, view.rows.count) - 1))
        draw()
    }

    private func load(_ edge: RoomMachine.Edge) {
        guard !isLoading else { return }
        isLoading = true
        perform { room throws(BackscrollClientError) in
            try await room.load(edge)
        } then: { [weak self] in
            self?.isLoading = false
        }
    }

    // MARK: Keys

    /// Handles a key. Returns false if the user leaves.
    private func take(_ key: String) async -> Bool {
        notice = ""
        switch key {
        case "\u{3}", "\u{4}": return false
        case "\u{1B}[A": scroll(by: -1)
        case "\u{1B}[B": scroll(by: 1)
        case "\u{1B}[5~": scroll(by: -height)
        case "\u{1B}[6~": scroll(by: height)
        case "\u{1B}[F", "\u{1B}[4~", "\u{1B}OF":
            perform { room throws(BackscrollClientError) in try await room.jump(to: .newest) }
        case "\u{12}": withFailed { room, id throws(BackscrollClientError) in _ = try await room.retry(id) }
        case "\u{18}": withFailed { room, id in await room.discard(id) }
        case "\r", "\n":
            let text = input
            input = ""
            if !text.isEmpty { perform { room throws(BackscrollClientError) in _ = try await room.send(text) } }
        case "\u{7F}", "\u{8}": _ = input.popLast()
        default:
            if !key.hasPrefix("\u{1B}") {
                input += key.filter { !$0.unicodeScalars.contains { $0.value < 0x20 } }
                await room.typing()
            }
        }
        draw()
        return true
    }

    private func withFailed(
        _ body: @escaping @Sendable (Room, String) async throws(BackscrollClientError) -> Void
    ) {
        for row in view.rows {
            guard case .send(let draft, .failed) = row.content else { continue }
            perform { room throws(BackscrollClientError) in try await body(room, draft.clientMessageID) }
        }
    }

    /// Performs an operation in the background, and shows its error.
    private func perform(
        _ body: @escaping @Sendable (Room) async throws(BackscrollClientError) -> Void,
        then: @escaping @MainActor () -> Void = {}
    ) {
        Task {
            do throws(BackscrollClientError) {
                try await body(room)
            } catch {
                notice = "\(error)"
                draw()
            }
            then()
        }
    }

    /// The keys that the user types. A separate thread reads them.
    private static func keys() -> AsyncStream<String> {
        AsyncStream { keys in
            DispatchQueue(label: "keys").async {
                var buffer = [UInt8](repeating: 0, count: 1024)
                while case let count = read(0, &buffer, buffer.count), count > 0 {
                    let text = String(decoding: buffer[..<count], as: UTF8.self)
                    // An escape sequence arrives in one read. Other text may be pasted, and is passed on by characters.
                    if text.hasPrefix("\u{1B}") { keys.yield(text) } else { text.forEach { keys.yield(String($0)) } }
                }
                keys.finish()
            }
        }
    }
}
