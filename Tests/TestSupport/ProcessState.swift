import Glibc

/// Returns the text of a file in the proc file system.
public func contents(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailed(description: "open \(path): error \(errno)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// Returns the names in a directory.
private func entries(of path: String) throws -> [String] {
    guard let directory = opendir(path) else { throw CommandFailed(description: "opendir \(path): error \(errno)") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names
}

/// Returns the number of open descriptors of this process.
public func openDescriptors() throws -> Int {
    // Without the descriptor of this directory.
    try entries(of: "/proc/self/fd").count - 1
}

/// Returns the names of this process's threads.
public func threadNames() throws -> [String] {
    // A thread may end in between.
    try entries(of: "/proc/self/task").compactMap { try? contents(of: "/proc/self/task/\($0)/comm") }
}

/// Returns the resident memory of this process, in bytes.
public func residentMemory() throws -> Int {
    let pages = try contents(of: "/proc/self/statm").split(separator: " ")[1]
    return Int(pages)! * sysconf(Int32(_SC_PAGESIZE))
}

/// Limits this process to `count` more descriptors while `body` runs.
///
/// The limit applies to the whole process, so use it only in tests in processes of their own.
public func withDescriptors<R>(more count: Int, _ body: () throws -> R) throws -> R {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { throw CommandFailed(description: "getrlimit: error \(errno)") }
    let before = limit
    // The limit is on descriptor numbers, and the lowest free ones are used first. So these are found out by opening
    // files.
    let free = (0...count).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    for descriptor in free { close(descriptor) }
    limit.rlim_cur = rlim_t(free[count])
    guard setrlimit(resource, &limit) == 0 else { throw CommandFailed(description: "setrlimit: error \(errno)") }
    defer {
        limit = before
        setrlimit(resource, &limit)
    }
    return try body()
}
