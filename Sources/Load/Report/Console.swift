import Glibc

/// What the user sees while something goes on: a line that is rewritten in place on a terminal, and lines elsewhere.
///
/// It is on the standard error stream, so that the report alone is on standard output.
public final class Console {
    private let isTerminal: Bool
    private let isQuiet: Bool
    private var hasLine = false

    /// A console that says nothing if it is to be quiet.
    public init(isQuiet: Bool = false) {
        self.isQuiet = isQuiet
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// Shows how things stand.
    public func progress(_ text: String) {
        guard !isQuiet else { return }
        if isTerminal {
            // To the line's beginning, and what is behind the text erased (ECMA-48: EL).
            Self.write("\r" + text.prefix(Self.columns - 1) + "\u{1B}[K")
            hasLine = true
        } else {
            Self.write(text + "\n")
        }
    }

    /// Shows a line that stays, instead of the progress.
    public func note(_ text: String) {
        guard !isQuiet else { return }
        clear()
        Self.write(text + "\n")
    }

    /// Takes the progress away.
    public func clear() {
        guard hasLine else { return }
        Self.write("\r\u{1B}[K")
        hasLine = false
    }

    /// The terminal's width: a longer line could not be rewritten in place.
    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String) {
        var text = text
        // A terminal that is gone is no reason to end the run.
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
