import ArgumentParser
import Glibc
import Load
import Server
import Store

/// `backscroll check`.
///
/// Exit status: 0 if the database is sound, 1 if it is damaged, 2 if it cannot be checked.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look whether a database, or a backup, is sound.",
        discussion: """
            It looks at the file's pages, the tables, and whether what is in them agrees: that no message is missing \
            before others of its room (of a room's newest ones nothing tells), that none has the place, the revision or \
            the client_message_id of another, that they are what their rows, reactions and read marks say. Nothing is \
            changed. A server may run on the database; what is sent meanwhile stays in its write-ahead log until the \
            check is done, some seconds for a million messages.

              backscroll check data/backscroll.db

            It exits with 0 if the database is sound, with 1 if it is damaged, and with 2 if it cannot be checked.
            """)

    @Argument(help: ArgumentHelp("The database or backup; --database says the same.", valueName: "file"))
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The SQLite database, as serve has it; or the variable BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Option(help: ArgumentHelp("How many findings are listed, 1 to 100000; all are counted.", valueName: "count"))
    var findings = DatabaseCheck.defaultFindings

    /// The database to look at: the argument, or else the option.
    private var file: String { path ?? database }

    func validate() throws {
        guard (1...100_000).contains(findings) else {
            throw ValidationError("--findings must be from 1 to 100000, not \(findings).")
        }
    }

    func run() throws {
        // Where both want the processor the server comes first.
        _ = nice(10)
        let status = StatusLine()
        let report: CheckReport
        do {
            report = try DatabaseCheck(file, mostFindings: findings).run { part, count in
                status.show(count > 0 ? "\(part.rawValue): \(Figure.whole(Int(count)))" : part.rawValue)
            }
        } catch {
            status.clear()
            Console().note("Error: \(error)")
            throw ExitCode(2)
        }
        status.clear()
        for finding in report.damages { print("damaged: \(finding)") }
        for note in report.notes { print("note: \(note)") }
        let contents = "\(Figure.count(Int(report.rooms), "room")) and \(Figure.count(Int(report.messages), "message"))"
        guard report.isSound else {
            let more = report.damageCount > report.damages.count ? "; the first \(report.damages.count) are above" : ""
            print("\(file) is damaged: \(Figure.count(report.damageCount, "finding")) in \(contents)\(more)")
            throw ExitCode(1)
        }
        print("\(file) is sound: \(contents)")
    }
}
