import ArgumentParser
import Commands
import Server
import Store

/// `backscroll index`.
struct IndexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Build the index for searches again.",
        discussion: """
            Empties the index of a database that no server has open. The next server that opens it builds the index again while \
            it serves; until then it answers searches with 503. With PostgreSQL, servers may run, and one of them begins at \
            once. This is never needed, unless backscroll check says so.

              backscroll index --rebuild data/backscroll.db
            """)

    @Argument(help: ArgumentHelp("The database; the same as --database.", valueName: "database"))
    var path: String?

    @Option(
        help: ArgumentHelp("The database, as in serve: a path; or set BACKSCROLL_DATABASE.", valueName: "path"))
    var database = ServeCommand.defaults.database

    @Flag(help: "Empty the index, so that it is built again.")
    var rebuild = false

    private var location: DatabaseLocation { DatabaseLocation(path ?? database) }

    func validate() throws {
        guard rebuild else { throw ValidationError("Add --rebuild to empty the index, so that it is built again.") }
    }

    func run() throws {
        try SearchRebuild(location).run()
        let builder = if case .postgres = location { "A server" } else { "The next server that opens it" }
        Console().note("The index of \(location) is emptied. \(builder) builds it again.")
    }
}
