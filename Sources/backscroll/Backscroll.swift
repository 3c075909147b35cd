import ArgumentParser
import Bench
import Glibc
import Load
import Server
import Store
import TerminalChat

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
            """,
        version: Version.current,
        subcommands: [
            ServeCommand.self, TokenCommand.self, BackupCommand.self, CheckCommand.self,
            ExportCommand.self, ImportCommand.self, CopyCommand.self, EpochCommand.self, LoadCommand.self,
            ChatCommand.self, HealthCheckCommand.self, BenchCommand.self, EchoCommand.self,
        ])

    static func main() async {
        var options: [String] = []
        let given = Array(CommandLine.arguments.dropFirst())
        do {
            try refusePasswords(in: given)
            let arguments: [String]
            (arguments, options) = try EnvironmentArguments.added(to: given)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error, for: given.first, ofVariablesFor: options)
        }
    }

    /// Refuses arguments with a password in a database's URL, because all users of the machine can see arguments.
    private static func refusePasswords(in arguments: [String]) throws {
        guard let location = DatabaseLocation.withPassword(in: arguments) else { return }
        throw ValidationError(
            "\(location) was given with a password, which shows in the list of processes. Set PGPASSWORD instead, or use a "
                + "password file (~/.pgpass).")
    }

    /// Exits with an error. The error names environment variables in place of the options that they set.
    ///
    /// - Parameter command: The name of the subcommand.
    private static func exit(
        withError error: any Error, for command: String?, ofVariablesFor options: [String]
    ) -> Never {
        // The text of --help takes the same path; it names options and is not an error.
        guard !exitCode(for: error).isSuccess else { exit(withError: error) }
        let (message, full) = (message(for: error), fullMessage(for: error, of: command))
        let named = EnvironmentVariables.text(message, namingVariablesOf: options)
        let text = named == message ? Suggestion.removed(ifFarFetched: full) : "Error: \(named)"
        // An error may have only an exit code.
        let line = text.isEmpty ? [] : Array("\(text)\n".utf8)
        // The pointer is used only inside the closure, for as many bytes as there are.
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        Glibc.exit(exitCode(for: error).rawValue)
    }

    /// Returns the text of an error with the usage of the subcommand. ArgumentParser knows the subcommand only of errors
    /// that it has found itself.
    private static func fullMessage(for error: any Error, of command: String?) -> String {
        guard error is ValidationError,
            let command = configuration.subcommands.first(where: { $0.configuration.commandName == command })
        else { return fullMessage(for: error) }
        return """
            Error: \(message(for: error))
            \(usageString(for: command))
              See '\(configuration.commandName!) \(command.configuration.commandName!) --help' for more information.
            """
    }
}

extension ParsableCommand {
    /// Refuses a number that is out of range.
    func check(_ value: Int, _ range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(value) else {
            throw ValidationError("--\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
        }
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
