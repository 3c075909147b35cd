import ArgumentParser
import Commands
import Store

/// `backscroll copy`.
///
/// Exit status: 0 if the copy is whole, 1 otherwise.
struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Move a database to PostgreSQL, or back.",
        discussion: """
            Copies everything: rooms, messages, members, read marks, bans and client message ids. Clients notice nothing, because \
            seq, rev and the epoch stay the same. Stop the servers of both databases first.

              backscroll copy data/backscroll.db postgres://chat@db.example/chat
              backscroll copy postgres://chat@db.example/chat data/backscroll.db

            The target must be empty or not exist. If the copy is interrupted, run it again: it continues where it stopped. Until it \
            is done, no server opens the target. A password comes from PGPASSWORD or a password file (~/.pgpass).
            """)

    @Argument(help: ArgumentHelp("The database to copy: a path, or postgres://USER@HOST/NAME.", valueName: "from"))
    var source: String

    @Argument(help: ArgumentHelp("The new database: a path, or postgres://USER@HOST/NAME.", valueName: "to"))
    var target: String

    func validate() throws {
        if case (.file, .file) = (DatabaseLocation(source), DatabaseLocation(target)) {
            throw ValidationError("Both databases are files. To copy a file, use backscroll backup.")
        }
    }

    func run() throws {
        Interruption.watch()
        let status = StatusLine()
        defer { status.clear() }
        let copy = DatabaseCopy(of: DatabaseLocation(source), to: DatabaseLocation(target))
        let done = try copy.run(isCancelled: { Interruption.isRequested }) { progress in
            let percent = progress.messages * 100 / max(1, progress.allMessages)
            status.show("\(NumberFormat.count(Int(progress.messages), "message")), \(percent) %")
        }
        status.clear()
        if done.isCancelled {
            Console().note("Interrupted. Run the same command again to continue.")
            throw ExitCode(1)
        }
        Console().note(
            "copied \(NumberFormat.count(Int(done.messages), "message")) and \(NumberFormat.count(Int(done.otherRows), "other row")) in "
                + "\(status.seconds) s" + (done.isContinued ? ", continuing an interrupted copy" : ""))
    }
}

/// `backscroll epoch`.
struct EpochCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "epoch",
        abstract: "Show the name of a PostgreSQL database's history, or renew it after a restore.",
        discussion: """
            After a restore with pg_restore or psql, messages that clients have already seen may be missing. Renew the epoch before \
            you start the servers: clients then load their rooms again instead of mixing two histories. You need not do so after \
            the restore of an SQLite backup, or after PostgreSQL was promoted or restored to a point in time: there the server \
            renews the epoch when it starts.

              backscroll epoch --database postgres://chat@db.example/chat --renew
            """)

    @Option(help: ArgumentHelp("The database, as in serve; or set BACKSCROLL_DATABASE.", valueName: "url"))
    var database: String

    @Flag(help: "Give the history a new epoch.")
    var renew = false

    func validate() throws {
        guard case .postgres = DatabaseLocation(database) else {
            throw ValidationError("--database must be the URL of a PostgreSQL database, not \(database).")
        }
    }

    func run() throws {
        print(try DatabaseEpoch.read(DatabaseLocation(database), renewing: renew))
    }
}
