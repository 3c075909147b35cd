import ArgumentParser
import Bench
import Glibc
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
            ServeCommand.self, TokenCommand.self, BackupCommand.self, CheckCommand.self,
            ExportCommand.self, ImportCommand.self, LoadCommand.self,
            BenchCommand.self, EchoCommand.self,
        ],
        defaultSubcommand: nil
    )

    static func main() async {
        var options: [String] = []
        do {
            let arguments: [String]
            (arguments, options) = try EnvironmentArguments.added(
                to: Array(CommandLine.arguments.dropFirst()), from: EnvironmentArguments.current)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error, ofVariablesFor: options)
        }
    }

    /// Ends the program with an error, which names variables where these have set the options that it is about.
    private static func exit(withError error: any Error, ofVariablesFor options: [String]) -> Never {
        let message = message(for: error)
        let named = EnvironmentVariables.text(message, namingVariablesOf: options)
        // Help is told in the same way, and is about options.
        guard named != message, !exitCode(for: error).isSuccess else { exit(withError: error) }
        let line = Array("Error: \(named)\n".utf8)
        // The pointer is used only inside the closure, for as many bytes as there are.
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        Glibc.exit(exitCode(for: error).rawValue)
    }
}
