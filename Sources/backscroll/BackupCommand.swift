import ArgumentParser
import Commands
import Glibc
import Server
import Store

/// `backscroll backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a file, also while a server uses it.",
        discussion: """
            The copy shows the database at one moment, and contains nothing that was deleted before. It appears under its name \
            when it is complete and on disk; Ctrl-C, an error or a full disk leave no file behind.

              backscroll backup --database data/backscroll.db /backups/monday.db
              backscroll backup data/backscroll.db /backups/monday.db
              backscroll check /backups/monday.db

            To restore a backup: stop the server, move the database away together with the -wal and -shm files beside it, put \
            the copy in its place, and start the server. The history gets a new epoch, so clients that have seen newer messages \
            than the backup has load their rooms again.
            """)

    @Argument(
        help: ArgumentHelp(
            "The file to write, in an existing directory. With two paths, the first one is the database.",
            valueName: "file"))
    var paths: [String]

    @Option(help: ArgumentHelp("The SQLite database, as in serve; or set BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(help: "Replace an existing file.")
    var force = false

    func validate() throws {
        guard (1...2).contains(paths.count) else {
            throw ValidationError("Name the file to write, with the database before it or as --database.")
        }
        try DatabaseLocation(paths.count == 2 ? paths[0] : database).checkIsFile(instead: "use pg_dump")
    }

    func run() throws {
        let file = paths[paths.count - 1]
        let database = paths.count == 2 ? paths[0] : database
        let backup = try Backup(of: database, to: file, replacing: force)
        Interruption.watch()
        // Leave the processor to a running server.
        _ = nice(10)
        let status = StatusLine()
        defer { status.clear() }
        let contents = try backup.run(isCancelled: { Interruption.isRequested }) { progress in
            status.show(
                "\(NumberFormat.bytes(Double(progress.bytes))) of about \(NumberFormat.bytes(Double(progress.total)))")
        }
        status.clear()
        print(
            "\(file) holds \(NumberFormat.count(Int(contents.rooms), "room")) and \(NumberFormat.count(Int(contents.messages), "message")) in "
                + "\(NumberFormat.whole(Int(contents.bytes))) bytes, written in \(status.seconds) s")
    }
}
