import ArgumentParser
import Glibc

/// The program `backscroll-tools`.
enum ToolsProgram {
    static let name = "backscroll-tools"

    /// Its commands, which were once commands of this program.
    private static let commands: Set = ["chat", "load", "bench", "echo"]

    /// Runs the program in place of this one, if the arguments begin with one of its commands.
    ///
    /// - Throws: A validation error if it is not in the directory of this program.
    static func runInstead(_ arguments: [String]) throws {
        guard let command = arguments.first, commands.contains(command) else { return }
        let path = directory + "/" + name
        // The C strings live until the end of the process, or until execv has failed, which ends it soon.
        var texts = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &texts)
        throw ValidationError(
            "'\(command)' is a command of \(name), which is not in \(directory). Install the package \(name), or run "
                + "scripts/tools \(command) in a clone.")
    }

    /// The directory of this program's file.
    private static var directory: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(path) }
        let text = String(cString: path)
        return String(text[..<(text.lastIndex(of: "/") ?? text.startIndex)])
    }
}
