import ArgumentParser
import Commands
import Server
import Store

/// The command line.
@main
struct Backscroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backscroll",
        abstract: "A realtime chat backend whose history you can scroll both ways.",
        discussion: """
            Clients send messages with HTTP POST. The server stores them durably in one SQLite file, or in a PostgreSQL database \
            that several servers share. It pushes them to the room's subscribers over WebSocket or as Server-Sent Events. \
            Clients read history in pages before or after any point.

            Try it:
              backscroll serve
              curl -d '{"client_message_id":"a1","text":"hello"}' \\
                'http://localhost:8080/v1/rooms/lobby/messages?user=alice'
              curl 'http://localhost:8080/v1/rooms/lobby/messages'

            The program \(ToolsProgram.name) has a chat in the terminal, a load generator and benchmarks.
            """,
        version: Version.current,
        subcommands: [
            ServeCommand.self, TokenCommand.self, BackupCommand.self, CheckCommand.self, IndexCommand.self,
            ExportCommand.self, ImportCommand.self, CopyCommand.self, EpochCommand.self, HealthCheckCommand.self,
            FaultsCommand.self,
        ])

    static func main() async {
        var options: [String] = []
        let given = Array(CommandLine.arguments.dropFirst())
        do {
            try refusePasswords(in: given)
            try ToolsProgram.runInstead(given)
            let arguments: [String]
            (arguments, options) = try EnvironmentArguments.added(to: given)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error, of: given.first) { EnvironmentVariables.text($0, namingVariablesOf: options) }
        }
    }

    /// Refuses arguments with a password in a database's URL, because all users of the machine can see arguments.
    private static func refusePasswords(in arguments: [String]) throws {
        guard let location = DatabaseLocation.withPassword(in: arguments) else { return }
        throw ValidationError(
            "\(location) was given with a password, which shows in the list of processes. Set PGPASSWORD instead, or use a "
                + "password file (~/.pgpass).")
    }
}

extension DatabaseLocation {
    /// Refuses a database in PostgreSQL, for a command that works with files only.
    ///
    /// - Parameter advice: The sentence's end, which says what to do instead.
    func checkIsFile(instead advice: String) throws {
        guard isShared else { return }
        throw ValidationError("\(self) is in PostgreSQL, and this command is for SQLite: \(advice).")
    }
}
