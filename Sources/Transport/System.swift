import CLibwebsockets
import Glibc

/// Returns the system's text for an error number.
func describe(errno number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        // The buffer belongs to this closure, and strerror_r terminates the text with a NUL.
        guard strerror_r(number, buffer.baseAddress!, buffer.count) == 0 else { return "error \(number)" }
        return String(cString: buffer.baseAddress!)
    }
}

/// Sets an option of a socket that takes an integer.
func setOption(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

/// Closes any handle of libuv. libuv keeps the handle until it calls back, which frees the memory, and uses nothing of
/// the handle's owner from now on.
func closeAndFree(_ handle: UnsafeMutableRawPointer) {
    uv_close(handle.assumingMemoryBound(to: uv_handle_t.self)) { handle in
        UnsafeMutableRawPointer(handle!).deallocate()
    }
}

/// Returns the number of processors that this process may run on. Containers and `taskset` can make it smaller than the
/// machine's.
public func availableProcessors() -> Int {
    Int(backscroll_processors())
}

/// Sets the limit of open files to `wanted`, as far as the system allows, and returns the limit.
///
/// Call it before creating a ``LoopGroup``: libwebsockets allocates 16 bytes per loop for each descriptor of the limit.
/// If the limit is above ten million, as under some container engines, it allocates tables for only 2560. A limit above
/// `wanted` is therefore lowered.
public func raiseOpenFileLimit(to wanted: Int = 128 * 1024) -> Int {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    let new = min(limit.rlim_max, rlim_t(wanted))
    if new != limit.rlim_cur {
        limit.rlim_cur = new
        _ = setrlimit(resource, &limit)
        _ = getrlimit(resource, &limit)
    }
    return Int(clamping: limit.rlim_cur)
}

/// Makes the system reserve room for this many open files. It does nothing if that exceeds the process's limit. Call it
/// before creating other threads.
///
/// By default the system doubles its table when a descriptor does not fit. In a process with several threads,
/// everything that opens a descriptor then waits for milliseconds. The table takes 8 bytes of the system's memory per
/// descriptor.
public func reserveDescriptors(_ count: Int) {
    let any = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard any >= 0 else { return }
    defer { close(any) }
    // The lowest free number that is not lower than this.
    let highest = fcntl(any, F_DUPFD_CLOEXEC, Int32(clamping: max(0, count - 1)))
    if highest >= 0 { close(highest) }
}

/// Makes the C library's allocator keep a few megabytes of freed memory for reuse.
///
/// The memory of a commit is allocated on one thread and freed on another. By default the allocator would return it to
/// the system and fetch it again, page by page, with each commit.
public func keepFreedMemory() {
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024)
    mallopt(M_TOP_PAD, 1024 * 1024)
}

/// Lets another thread run that waits for this processor. Call it between the parts of long work.
///
/// By default a thread may wait for milliseconds if there are more threads than processors. It may be the log's writer,
/// another loop, or, on a small machine, a client. Without it deliveries of two loops take a quarter longer (scenario B
/// of `scripts/compare`, p50 on two processors).
public func yieldProcessor() {
    sched_yield()
}

/// Returns the number of open descriptors of this process; `nil` if the system does not provide it.
public func openDescriptorCount() -> Int? {
    // Since Linux 6.2 the size of the directory is the number of descriptors, which saves listing them.
    var status = stat()
    guard stat("/proc/self/fd", &status) == 0 else { return nil }
    if status.st_size > 0 { return Int(status.st_size) }
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count - 3  // `.`, `..`, and the descriptor that lists them
}

extension Duration {
    /// The duration in milliseconds, rounded away from zero, and capped at some thousand years.
    var roundedMilliseconds: Int {
        let (seconds, attoseconds) = components
        let bound: Int64 = 1 << 36
        let (milliseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return Int(max(-bound, min(seconds, bound)) * 1000 + milliseconds + rest.signum())
    }
}
