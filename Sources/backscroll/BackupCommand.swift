import ArgumentParser
import Glibc
import Load
import Server
import Store

/// `backscroll backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a file, also while a server runs on it.",
        discussion: """
            The copy is of one moment, and holds nothing of what was deleted before. It is under its name when it is \
            whole and on the disk; Ctrl-C, an error or a full disk leave nothing of it.

              backscroll backup --database data/backscroll.db /backups/monday.db
              backscroll backup data/backscroll.db /backups/monday.db
              backscroll check /backups/monday.db

            To restore it: stop the server, take the database away with the files -wal and -shm beside it if there are \
            any, put the copy in its place, and start the server. It gives the history a new epoch, so that clients \
            which have seen what came after the backup load their rooms afresh.
            """)

    @Argument(
        help: ArgumentHelp(
            "Where the copy will be; its directory must be there. With two paths, the first one is the database.",
            valueName: "file"))
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "The SQLite database, as serve has it; or the variable BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(help: "Replace a file that is there.")
    var force = false

    func validate() throws {
        guard (1...2).contains(paths.count) else {
            throw ValidationError("Say where the copy will be, with the database before it or as --database.")
        }
    }

    func run() throws {
        let file = paths[paths.count - 1]
        let database = paths.count == 2 ? paths[0] : database
        let backup = try Backup(of: database, to: file, replacing: force)
        Interruption.watch()
        // Where both want the processor the server comes first.
        _ = nice(10)
        let status = StatusLine()
        defer { status.clear() }
        let start = ContinuousClock.now
        let contents = try backup.run(isCancelled: { Interruption.isRequested }) { progress in
            status.show("\(Figure.bytes(Double(progress.bytes))) of about \(Figure.bytes(Double(progress.total)))")
        }
        let seconds = Figure.fixed((ContinuousClock.now - start) / .seconds(1), 2)
        status.clear()
        print(
            "\(file) holds \(Figure.count(Int(contents.rooms), "room")) and \(Figure.count(Int(contents.messages), "message")) in "
                + "\(Figure.whole(Int(contents.bytes))) bytes, written in \(seconds) s")
    }
}
