import ArgumentParser
import Glibc

/// `BACKSCROLL_*` variables as flags: `BACKSCROLL_PORT=80` is `--port 80`, unless the flag is given as well.
///
/// So both are parsed, validated and described in one place, the commands' own options.
enum EnvironmentArguments {
    /// What every variable's name begins with.
    static let prefix = "BACKSCROLL_"

    /// This process's environment.
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

    /// The options of a command that have variables: all of `serve`, and what others share with it.
    private static func options(ofCommand name: String) -> [(name: String, takesValue: Bool)] {
        switch name {
        case ServeCommand.configuration.commandName: options(of: ServeCommand())
        case BackupCommand.configuration.commandName: [("database", true)]
        default: []
        }
    }

    /// The arguments with what the environment says added in front of them.
    ///
    /// - Throws: a validation error naming the variable, for a switch that is neither true nor false.
    static func added(to arguments: [String], from environment: [String: String]) throws -> [String] {
        guard let command = arguments.first else { return arguments }
        let given = Set(
            arguments.compactMap { $0.hasPrefix("--") ? $0.split(separator: "=").first.map(String.init) : nil })
        var added: [String] = []
        for option in options(ofCommand: command) {
            let variable = prefix + option.name.uppercased().replacing("-", with: "_")
            guard let value = environment[variable], !given.contains("--" + option.name) else { continue }
            if option.takesValue {
                added.append("--\(option.name)=\(value)")
            } else {
                switch value.lowercased() {
                case "true", "1", "yes": added.append("--" + option.name)
                case "false", "0", "no", "": break
                default: throw ValidationError("\(variable) must be true or false, not '\(value)'.")
                }
            }
        }
        return [command] + added + arguments.dropFirst()
    }

    /// The long names of a command's options: its properties, so that none can be forgotten here.
    static func options(of command: some ParsableCommand) -> [(name: String, takesValue: Bool)] {
        Mirror(reflecting: command).children.compactMap { child in
            guard let label = child.label, label.hasPrefix("_") else { return nil }
            let name = label.dropFirst().reduce(into: "") { name, character in
                name += character.isUppercase ? "-\(character.lowercased())" : String(character)
            }
            return (name, !(child.value is Flag<Bool>))
        }
    }
}
