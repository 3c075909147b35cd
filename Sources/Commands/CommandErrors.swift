package import ArgumentParser
import Glibc

extension ParsableCommand {
    /// Refuses a number that is out of range.
    package func check(_ value: Int, _ range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(value) else {
            throw ValidationError("--\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
        }
    }

    /// Exits with an error, without a suggestion that is far-fetched.
    ///
    /// - Parameters:
    ///   - command: The name of the subcommand.
    ///   - rephrase: Changes the error's message. A message that it has changed is printed without the usage.
    package static func exit(
        withError error: any Error, of command: String?, rephrasing rephrase: (String) -> String
    ) -> Never {
        // The text of --help takes the same path, and is not an error.
        guard !exitCode(for: error).isSuccess else { exit(withError: error) }
        let (message, full) = (message(for: error), fullMessage(for: error, of: command))
        let rephrased = rephrase(message)
        let text = rephrased == message ? Suggestion.removed(ifFarFetched: full) : "Error: \(rephrased)"
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
            Usage: \(usageString(for: command))
              See '\(configuration.commandName!) \(command.configuration.commandName!) --help' for more information.
            """
    }
}
