import Glibc

/// The progress of a command: a line rewritten in place on a terminal, and separate lines elsewhere.
///
/// It is written to standard error, so that standard output has only the report.
package final class Console {
    private let isTerminal: Bool
    private let isQuiet: Bool
    private var hasLine = false

    /// Creates a console, which writes nothing if `isQuiet` is true.
    package init(isQuiet: Bool = false) {
        self.isQuiet = isQuiet
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// Shows the current progress.
    package func progress(_ text: String) {
        guard !isQuiet else { return }
        if isTerminal {
            // Moves to the start of the line and erases the rest after the text (ECMA-48: EL).
            Self.write("\r" + text.prefix(Self.columns - 1) + "\u{1B}[K")
            hasLine = true
        } else {
            Self.write(text + "\n")
        }
    }

    /// Shows a permanent line in place of the progress.
    package func note(_ text: String) {
        guard !isQuiet else { return }
        clear()
        Self.write(text + "\n")
    }

    /// Erases the progress.
    package func clear() {
        guard hasLine else { return }
        Self.write("\r\u{1B}[K")
        hasLine = false
    }

    /// The terminal's width. A longer line could not be rewritten in place.
    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String) {
        var text = text
        // A closed terminal must not end the run.
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
