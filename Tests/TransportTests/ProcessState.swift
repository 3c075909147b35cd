import Glibc
import TestSupport

/// The text of a file of the proc file system.
func contents(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailed(description: "open \(path): error \(errno)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// How many descriptors this process has open.
func openDescriptors() throws -> Int {
    guard let directory = opendir("/proc/self/fd") else {
        throw CommandFailed(description: "opendir: error \(errno)")
    }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Less the directory itself, its parent, and the descriptor of this very look.
    return count - 3
}

/// Has this process get no more than `count` descriptors from now on.
///
/// - Returns: how many it could get before.
@discardableResult
func limitDescriptors(to count: Int) throws -> Int {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { throw CommandFailed(description: "getrlimit: error \(errno)") }
    let before = Int(limit.rlim_cur)
    limit.rlim_cur = rlim_t(count)
    guard setrlimit(resource, &limit) == 0 else { throw CommandFailed(description: "setrlimit: error \(errno)") }
    return before
}
