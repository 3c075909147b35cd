import ArgumentParser
import Commands
import Glibc
import Server
import Store

/// `backscroll export`.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all rooms and messages as JSON lines, also while a server runs.",
        discussion: """
            Each line is a JSON object with a type: a room, a member, a message, or the read mark of a user. Messages have their \
            created_at, sender, client_message_id, text, attachments, data, reply_to, edited_at, deleted, and reactions with all \
            users. The export shows the database at one moment.

              backscroll export --database data/backscroll.db history.jsonl
              backscroll export | gzip > history.jsonl.gz

            The export does not contain revisions, the epoch, deleted rooms, or the original content of edited and deleted \
            messages. To copy a database completely, use backscroll backup.
            """)

    @Argument(help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var file = "-"

    @Option(help: ArgumentHelp("The SQLite database, as in serve; or set BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(help: "Replace an existing file.")
    var force = false

    func validate() throws {
        try DatabaseLocation(database).checkIsFile(instead: "use backscroll copy to make a file of it first")
    }

    func run() throws {
        let export = try HistoryExport(of: database)
        Interruption.watch()
        // If the reader of a pipe closes it, report a write error instead of dying by a signal.
        signal(SIGPIPE, SIG_IGN)
        // Leave the processor to a running server.
        _ = nice(10)
        let output = file == "-" ? STDOUT_FILENO : try create()
        let status = StatusLine()
        do {
            let contents = try export.run(to: output, isCancelled: { Interruption.isRequested }) { contents in
                status.show(
                    "\(NumberFormat.count(Int(contents.messages), "message")), \(NumberFormat.bytes(Double(contents.bytes)))"
                )
            }
            if file != "-", fsync(output) != 0 {
                throw FileFailure(description: "\(file): \(String(cString: strerror(errno)))")
            }
            status.clear()
            Console().note(
                "exported \(NumberFormat.count(Int(contents.rooms), "room")) and "
                    + "\(NumberFormat.count(Int(contents.messages), "message")), "
                    + "\(NumberFormat.bytes(Double(contents.bytes))), in \(status.seconds) s")
        } catch {
            status.clear()
            // A partial export could be mistaken for a complete one.
            if file != "-" { unlink(file) }
            throw error
        }
    }

    /// Creates the file, readable by its owner only.
    private func create() throws -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL)
        let descriptor = open(file, flags, 0o600)
        guard descriptor >= 0 else {
            let hint = errno == EEXIST ? "; --force replaces it" : ""
            throw FileFailure(description: "\(file) cannot be written: \(String(cString: strerror(errno)))\(hint)")
        }
        return descriptor
    }
}

/// The reason why a file cannot be read or written. Unlike a validation error it is printed without the usage, and the exit
/// status is 1.
private struct FileFailure: Error, CustomStringConvertible {
    let description: String
}

/// `backscroll import`.
///
/// Exit status: 0 if all lines were imported, 1 otherwise.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the rooms and messages of an export to a database.",
        discussion: """
            The database must not be in use by a server, which keeps the end of each room in memory. It is created if it does \
            not exist.

              backscroll import --database data/backscroll.db history.jsonl
              gunzip < history.jsonl.gz | backscroll import

            A message becomes the newest of its room, so it must not be older than the newest one there. It keeps its \
            created_at and gets the next seq; reply_to and read marks are adjusted. Messages that the database already has are \
            skipped, so you can repeat an import that was interrupted. An invalid line ends the import with an error that names \
            the line and the field.

            You can also import histories of other programs. A line needs room, sender, created_at, and text or attachments. \
            With a client_message_id, repeating the import is safe.
            """)

    @Argument(help: ArgumentHelp("The file to read; - is standard input.", valueName: "file"))
    var file = "-"

    @Option(help: ArgumentHelp("The SQLite database, as in serve; or set BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    func validate() throws {
        try DatabaseLocation(database).checkIsFile(instead: "import into a file, then use backscroll copy")
    }

    func run() throws {
        let input = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else {
            throw FileFailure(description: "\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        Interruption.watch()
        let status = StatusLine()
        defer { status.clear() }
        let contents = try HistoryImport(into: database).run(from: input, isCancelled: { Interruption.isRequested }) {
            status.show(
                "\(NumberFormat.count(Int($0.lines), "line")), \(NumberFormat.count(Int($0.messages), "message"))")
        }
        status.clear()
        let repeated =
            contents.repeated > 0 ? " (\(NumberFormat.count(Int(contents.repeated), "message")) already present)" : ""
        Console().note(
            "imported \(NumberFormat.count(Int(contents.messages), "message"))\(repeated) and "
                + "\(NumberFormat.count(Int(contents.rooms), "new room")) in \(status.seconds) s")
        if contents.isCancelled {
            Console().note("Interrupted after line \(contents.lines). Import the file again to continue.")
            throw ExitCode(1)
        }
        if !contents.isWhole {
            Console().note(
                "Error: the export is incomplete: its last line is missing. The lines that it has were imported.")
            throw ExitCode(1)
        }
    }
}
