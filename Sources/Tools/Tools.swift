import ArgumentParser
import Bench
import Commands
import Load
import Server
import TerminalChat

/// The command line of `backscroll-tools`: what is not needed to run a server.
@main
struct Tools: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backscroll-tools",
        abstract: "Tools for Backscroll, a realtime chat backend.",
        discussion: """
            With a server on this machine, such as one that scripts/run starts:
              backscroll-tools chat http://localhost:8080 --room lobby --as alice
              backscroll-tools load http://localhost:8080 --subscribers 1000
            """,
        version: Version.current,
        subcommands: [ChatCommand.self, LoadCommand.self, BenchCommand.self, EchoCommand.self])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error, of: CommandLine.arguments.dropFirst().first) { $0 }
        }
    }
}
