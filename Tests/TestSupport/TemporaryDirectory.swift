import Glibc

/// A test's own directory, removed with its contents when the value is released.
public final class TemporaryDirectory: Sendable {
    /// The path, without a slash at the end.
    public let path: String

    /// Creates an empty directory.
    public init() throws {
        var template = Array("/tmp/backscroll-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CommandFailed(description: "mkdtemp: error \(errno)") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit {
        _ = try? run("/bin/rm", "-rf", path)
    }

    /// Returns the path of a file in the directory.
    public func path(of file: String) -> String {
        "\(path)/\(file)"
    }

    /// Writes a file, replacing an existing one.
    ///
    /// - Returns: Its path.
    @discardableResult
    public func write(_ content: String, to file: String) throws -> String {
        let descriptor = open(path(of: file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailed(description: "open \(file): error \(errno)") }
        defer { close(descriptor) }
        let bytes = Array(content.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CommandFailed(description: "write \(file): error \(errno)")
        }
        return path(of: file)
    }
}
