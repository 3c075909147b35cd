import ArgumentParser
import Bench
import Load
import Server

/// The command line.
@main
struct Backscroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backscroll",
        abstract: "A realtime chat backend whose history you can scroll both ways.",
        discussion: """
            Messages are sent with HTTP POST, stored durably in one SQLite file, pushed to the subscribers of their \
            room over WebSocket or as Server-Sent Events, and read back in pages before or after any point.

            Try it:
              backscroll serve
              curl -d '{"client_message_id":"a1","text":"hello"}' 'http://localhost:8080/v1/rooms/lobby/messages?user=alice'
              curl 'http://localhost:8080/v1/rooms/lobby/messages'
            """,
        version: Version.current,
        subcommands: [
            ServeCommand.self, TokenCommand.self, BackupCommand.self, CheckCommand.self, LoadCommand.self,
            BenchCommand.self, EchoCommand.self,
        ],
        defaultSubcommand: nil
    )

    static func main() async {
        do {
            let arguments = try EnvironmentArguments.added(
                to: Array(CommandLine.arguments.dropFirst()), from: EnvironmentArguments.current)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }
}
