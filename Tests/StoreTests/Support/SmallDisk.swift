import Glibc
import TestSupport

/// A file system of a few pages in memory, for processes that may mount one.
final class SmallDisk: Sendable {
    private let directory: TemporaryDirectory

    init(kibibytes: Int) throws {
        directory = try TemporaryDirectory()
        try run("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", directory.path)
    }

    deinit {
        _ = try? run("umount", "-l", directory.path)
    }

    func path(of file: String) -> String {
        directory.path(of: file)
    }

    /// Enlarges the file system.
    func grow(kibibytes: Int) throws {
        try run("mount", "-o", "remount,size=\(kibibytes)k", directory.path)
    }

    /// Fills the file system.
    func fill() throws {
        let file = open(path(of: "filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 0, count: 4096)
        while write(file, page, page.count) == page.count {}
    }

    /// True if this process may mount one.
    static let isAvailable = (try? SmallDisk(kibibytes: 4)) != nil
}
