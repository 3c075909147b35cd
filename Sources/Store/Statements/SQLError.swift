import Chat
import Wire

/// An error of a ``SQLDatabase``.
protocol SQLError: Error {
    /// True if a page or a row is damaged. Others can still be read.
    var isDamage: Bool { get }
    /// The refusal of a read that the error has ended.
    var readProblem: Problem { get }
}

extension Problem {
    /// 503: a read has failed. Clients see the reason.
    static func unreadable(_ reason: String) -> Problem {
        .unavailable("The history could not be read: \(reason).")
    }
}
