import ArgumentParser
import Glibc
import Load
import Server
import Store

/// `backscroll export`.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all rooms and messages as lines of JSON, also while a server runs.",
        discussion: """
            Each line is a JSON object with a type: a room, a member, a message, or the read mark of a user. Messages \
            have their created_at, sender, client_message_id, content, reply_to, edited_at, deleted, and reactions with \
            all users. Everything is of one moment.

              backscroll export --database data/backscroll.db history.jsonl
              backscroll export | gzip > history.jsonl.gz

            What the export does not hold: revisions, the epoch, deleted rooms, and what was first sent of edited or \
            deleted messages. To copy a database with all that is in it use backscroll backup.
            """)

    @Argument(help: ArgumentHelp("Where to write; - is standard output.", valueName: "file"))
    var file = "-"

    @Option(
        help: ArgumentHelp(
            "The SQLite database, as serve has it; or the variable BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(help: "Replace a file that is there.")
    var force = false

    func run() throws {
        let export = try HistoryExport(of: database)
        Interruption.watch()
        // A reader that goes away is an error of the write, and no end without a word.
        signal(SIGPIPE, SIG_IGN)
        // The server comes first where both want the processor.
        _ = nice(10)
        let output = file == "-" ? STDOUT_FILENO : try create()
        let status = StatusLine()
        let start = ContinuousClock.now
        do {
            let contents = try export.run(to: output, isCancelled: { Interruption.isRequested }) { contents in
                status.show(
                    "\(Figure.count(Int(contents.messages), "message")), \(Figure.bytes(Double(contents.bytes)))")
            }
            if file != "-", fsync(output) != 0 { throw ValidationError("\(file): \(String(cString: strerror(errno)))") }
            status.clear()
            let seconds = Figure.fixed((ContinuousClock.now - start) / .seconds(1), 2)
            Console().note(
                "exported \(Figure.count(Int(contents.rooms), "room")) and "
                    + "\(Figure.count(Int(contents.messages), "message")), "
                    + "\(Figure.bytes(Double(contents.bytes))), in \(seconds) s")
        } catch {
            status.clear()
            // An export that is cut off would be taken for a whole one.
            if file != "-" { unlink(file) }
            throw error
        }
    }

    /// Makes the file, for its owner's eyes only.
    private func create() throws -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL)
        let descriptor = open(file, flags, 0o600)
        guard descriptor >= 0 else {
            let hint = errno == EEXIST ? "; --force replaces it" : ""
            throw ValidationError("\(file) cannot be written: \(String(cString: strerror(errno)))\(hint)")
        }
        return descriptor
    }
}

/// `backscroll import`.
///
/// Exit status: 0 if all lines are imported, 1 if some are not.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the rooms and messages of an export to a database.",
        discussion: """
            The database must not be in use by a server, whose memory knows where each room ends. It is made if it is \
            not there.

              backscroll import --database data/backscroll.db history.jsonl
              gunzip < history.jsonl.gz | backscroll import

            A message becomes the newest of its room, so it must not be older than the newest that is there. It keeps \
            its created_at and gets the next seq; reply_to and read marks move with it. Messages that are there already \
            are skipped, so an import that was interrupted is run again. A line that is wrong ends the import, with its \
            number and field.

            Histories of other programs can be imported: a line needs room, sender, created_at, and text or \
            attachments. A client_message_id makes repeating the import safe.
            """)

    @Argument(help: ArgumentHelp("What to read; - is standard input.", valueName: "file"))
    var file = "-"

    @Option(
        help: ArgumentHelp(
            "The SQLite database, as serve has it; or the variable BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    func run() throws {
        let input = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw ValidationError("\(file) cannot be read: \(String(cString: strerror(errno)))") }
        Interruption.watch()
        let status = StatusLine()
        let start = ContinuousClock.now
        let contents: HistoryImport.Contents
        do {
            contents = try HistoryImport(into: database).run(from: input, isCancelled: { Interruption.isRequested }) {
                status.show("\(Figure.count(Int($0.lines), "line")), \(Figure.count(Int($0.messages), "message"))")
            }
        } catch {
            status.clear()
            throw error
        }
        status.clear()
        let seconds = Figure.fixed((ContinuousClock.now - start) / .seconds(1), 2)
        let repeated =
            contents.repeated > 0 ? " (\(Figure.count(Int(contents.repeated), "message")) were there already)" : ""
        Console().note(
            "imported \(Figure.count(Int(contents.messages), "message"))\(repeated) and "
                + "\(Figure.count(Int(contents.rooms), "new room")) in \(seconds) s")
        if contents.isCancelled {
            Console().note("Interrupted after line \(contents.lines). Import the file again to go on.")
            throw ExitCode(1)
        }
        if !contents.isWhole {
            Console().note("Error: the export is cut off: its last line is missing. What it has is imported.")
            throw ExitCode(1)
        }
    }
}
