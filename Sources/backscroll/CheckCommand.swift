import ArgumentParser
import Commands
import Glibc
import Server
import Store

/// `backscroll check`.
///
/// Exit status: 0 if the database is sound, 1 if it is damaged, 2 if it cannot be checked.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the integrity of a database or a backup.",
        discussion: """
            Checks the pages of a file, the tables, and whether the rows agree: no message is missing before later ones of its room \
            (missing newest messages cannot be detected), no two messages share a place, a revision or a client_message_id, and \
            messages match their rows, reactions, read marks and words in the index for searches. Nothing is changed, but for \
            --add-checksums. A server may use the database meanwhile; its write-ahead log grows until the check is done, which \
            takes some seconds for a million messages. For the pages of a PostgreSQL database, use its own pg_amcheck.

              backscroll check data/backscroll.db
              backscroll check --add-checksums data/backscroll.db
              backscroll check postgres://chat@db.example/chat

            The exit status is 0 if the database is sound, 1 if it is damaged, and 2 if it cannot be checked.
            """)

    @Argument(help: ArgumentHelp("The database or backup; the same as --database.", valueName: "database"))
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The database, as in serve: a path, or postgres://USER@HOST/NAME; or set BACKSCROLL_DATABASE.",
            valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(
        help: ArgumentHelp(
            "First give each page a checksum that has none: of a database of an older version, or of one that another program "
                + "has written to. Needs as much free space again, and no server may have the database open."))
    var addChecksums = false

    @Option(help: ArgumentHelp("Maximum number of findings to list, 1 to 100000; all are counted.", valueName: "count"))
    var findings = DatabaseCheck.defaultFindings

    /// The database to check: the argument, or else the option.
    private var location: DatabaseLocation { DatabaseLocation(path ?? database) }

    func validate() throws {
        try check(findings, 1...100_000, "findings")
    }

    func run() throws {
        // Leave the processor to a running server.
        _ = nice(10)
        let status = StatusLine()
        let report: CheckReport
        do {
            if addChecksums { try add(status) }
            report = try DatabaseCheck(location, mostFindings: findings).run { part, count in
                status.show(count > 0 ? "\(part.rawValue): \(NumberFormat.whole(Int(count)))" : part.rawValue)
            }
        } catch {
            status.clear()
            Console().note("Error: \(error)")
            throw ExitCode(2)
        }
        status.clear()
        for finding in report.damages { print("damaged: \(finding)") }
        for note in report.notes { print("note: \(note)") }
        let contents =
            "\(NumberFormat.count(Int(report.rooms), "room")) and \(NumberFormat.count(Int(report.messages), "message"))"
        guard report.isSound else {
            let more = report.damageCount > report.damages.count ? "; the first \(report.damages.count) are above" : ""
            print("\(location) is damaged: \(NumberFormat.count(report.damageCount, "finding")) in \(contents)\(more)")
            throw ExitCode(1)
        }
        print("\(location) is sound: \(contents)")
    }

    private func add(_ status: StatusLine) throws {
        Interruption.watch()
        let added = try ChecksumUpgrade(location).run(isCancelled: { Interruption.isRequested }) { copied in
            status.show(
                "\(NumberFormat.bytes(Double(copied.bytes))) of about \(NumberFormat.bytes(Double(copied.total)))")
        }
        status.clear()
        Console().note("\(NumberFormat.count(added, "page")) got checksums.")
    }
}
