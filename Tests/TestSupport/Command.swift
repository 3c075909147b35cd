import Glibc

/// Runs a program, given by name or path, and waits for its end.
///
/// - Returns: Its standard output.
/// - Throws: ``CommandFailed`` with its standard error, unless it exits with 0.
@discardableResult
public func run(_ program: String, _ arguments: String...) throws -> String {
    try run(program, arguments)
}

/// Runs a program, given by name or path, and waits for its end.
///
/// - Returns: Its standard output.
/// - Throws: ``CommandFailed`` with its standard error, unless it exits with 0.
@discardableResult
public func run(_ program: String, _ arguments: [String]) throws -> String {
    let output = try CapturedFile()
    let errors = try CapturedFile()
    let child = try spawn(program, arguments) { actions in
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, errors.descriptor, 2)
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard status == 0 else {
        throw CommandFailed(description: "\(program) ended with status \(status): \(errors.content)\(output.content)")
    }
    return output.content
}

/// Starts a program, given by name or path, whose output and errors are added to a file.
///
/// - Parameters:
///   - input: A descriptor of its standard input, or `nil` for `/dev/null`.
///   - output: The path of the file.
/// - Returns: Its process id, to be waited for.
public func spawn(_ program: String, _ arguments: [String], input: Int32? = nil, output: String) throws -> Int32 {
    try spawn(program, arguments) { actions in
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
    }
}

private func spawn(
    _ program: String, _ arguments: [String], files: (inout posix_spawn_file_actions_t) -> Void
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    files(&actions)
    // The strings are copies that are freed below. posix_spawn requires the null at the end of the array.
    var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for argument in argv { free(argument) } }
    var child = pid_t()
    let failed = posix_spawnp(&child, program, &actions, nil, &argv, environ)
    guard failed == 0 else { throw CommandFailed(description: "\(program): error \(failed)") }
    return child
}

/// The failure of a program.
public struct CommandFailed: Error, CustomStringConvertible {
    /// The program's own message, if there was one.
    public let description: String
}

/// An unlinked file that a child process writes to.
private final class CapturedFile {
    let descriptor: Int32

    init() throws {
        var template = Array("/tmp/backscroll-output-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw CommandFailed(description: "mkstemp: error \(errno)") }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        close(descriptor)
    }

    var content: String {
        lseek(descriptor, 0, SEEK_SET)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
