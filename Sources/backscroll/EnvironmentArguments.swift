import ArgumentParser
import Glibc
import Server
import Tokens

/// Turns `BACKSCROLL_*` variables into flags: `BACKSCROLL_PORT=80` becomes `--port 80`, unless the flag is given as
/// well.
///
/// So variables and flags are parsed, validated and documented in one place, the commands' options.
enum EnvironmentArguments {
    /// The environment of this process.
    static var current: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        // environ ends with a null pointer; nothing changes the environment while the program starts.
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    /// The options of a command that variables can set: all of `serve`, and those that other commands share with it.
    private static func options(ofCommand name: String) -> [(name: String, takesValue: Bool)] {
        switch name {
        case ServeCommand.configuration.commandName:
            options(of: ServeCommand()).map { ($0.name, !($0.property is Flag<Bool>)) }
        case BackupCommand.configuration.commandName, CheckCommand.configuration.commandName,
            ExportCommand.configuration.commandName, ImportCommand.configuration.commandName,
            EpochCommand.configuration.commandName:
            [("database", true)]
        default: []
        }
    }

    /// Warnings about variables of this process that have no effect on `serve`.
    static var warnings: [String] {
        let options = options(ofCommand: ServeCommand.configuration.commandName ?? "").map(\.name)
        return EnvironmentVariables.warnings(
            about: current.keys,
            known: options.map(EnvironmentVariables.name) + [KeySources.secretVariable])
    }

    /// Inserts the flags that variables of this process set before the given arguments.
    ///
    /// - Returns: The arguments, and the names of the inserted options.
    /// - Throws: A validation error that names the variable, if it is empty, or a switch that is neither true nor false.
    static func added(to arguments: [String]) throws -> (arguments: [String], options: [String]) {
        guard let command = arguments.first else { return (arguments, []) }
        let environment = current
        let given = Set(
            arguments.compactMap { $0.hasPrefix("--") ? $0.split(separator: "=").first.map(String.init) : nil })
        var added: [String] = []
        var names: [String] = []
        for option in options(ofCommand: command) {
            let variable = EnvironmentVariables.name(of: option.name)
            guard !given.contains("--" + option.name),
                let value = environment[variable]
                    ?? ServiceManager.credential(for: option.name, in: environment)
            else { continue }
            guard !value.isEmpty else {
                throw ValidationError("\(variable) is empty. Give it a value, or unset it for the default.")
            }
            names.append(option.name)
            if option.takesValue {
                added.append("--\(option.name)=\(value)")
            } else {
                switch value.lowercased() {
                case "true", "1", "yes": added.append("--" + option.name)
                case "false", "0", "no": break
                default: throw ValidationError("\(variable) must be true or false, not '\(value)'.")
                }
            }
        }
        return ([command] + added + arguments.dropFirst(), names)
    }

    /// Returns the declarations of a command's options by their long names, read from its properties so that none is
    /// missing.
    static func options(of command: some ParsableCommand) -> [(name: String, property: Any)] {
        Mirror(reflecting: command).children.compactMap { child in
            guard let label = child.label, label.hasPrefix("_") else { return nil }
            let name = label.dropFirst().reduce(into: "") { name, character in
                name += character.isUppercase ? "-\(character.lowercased())" : String(character)
            }
            return (name, child.value)
        }
    }
}
