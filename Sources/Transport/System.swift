import CLibwebsockets
import Glibc

/// The system's text for an error number.
func describe(errno number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        // The buffer is this closure's own, and strerror_r ends what it writes with a zero.
        guard strerror_r(number, buffer.baseAddress!, buffer.count) == 0 else { return "error \(number)" }
        return String(cString: buffer.baseAddress!)
    }
}

/// The number of processors that this process may run on, which containers and `taskset` make fewer than the machine
/// has.
public func availableProcessors() -> Int {
    Int(backscroll_processors())
}

/// Sets the limit of open files to what a server needs, as far as the system allows this process, and tells it.
///
/// Call it before a ``LoopGroup`` is made: libwebsockets gives each loop tables for as many descriptors as the limit
/// says (16 bytes each), and for 2560 only when it says more than ten million, as under some container engines. So a
/// limit beyond `wanted` is lowered.
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

/// Has the system make room for this many open files, which are no more than the process's limit; otherwise nothing
/// changes. Best called before there are other threads.
///
/// By itself it doubles its table when a descriptor does not fit, and with several threads the one that needs it then
/// waits, with the others that open something, until every processor has let go of the old table: some 10 ms, at each
/// power of two. It takes 8 bytes a descriptor of the system's memory.
public func reserveDescriptors(_ count: Int) {
    let any = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard any >= 0 else { return }
    defer { close(any) }
    // The lowest free number that is not lower than this.
    let highest = fcntl(any, F_DUPFD_CLOEXEC, Int32(clamping: max(0, count - 1)))
    if highest >= 0 { close(highest) }
}

/// Has the C library's allocator keep a few megabytes of freed memory for what comes next.
///
/// What a commit holds is allocated on one thread and freed on another. By itself the allocator would give it back to the
/// system and fetch it again, page by page, some three times a commit: 4 % of a send.
public func keepFreedMemory() {
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024)
    mallopt(M_TOP_PAD, 1024 * 1024)
}

/// Lets another thread run that waits for this processor. For between the pieces of long work.
///
/// By itself the system lets a thread wait for some 4 ms when there are more of them than processors: the log's writer,
/// another loop, or on a small machine the client that is written to.
public func yieldProcessor() {
    sched_yield()
}

/// The number of descriptors that this process has open; `nil` where the system does not say.
public func openDescriptorCount() -> Int? {
    // Since Linux 6.2 the size of the directory is their number, which saves listing tens of thousands of them.
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
    /// The duration in milliseconds, rounded away from zero, and no longer than some thousand years.
    var roundedMilliseconds: Int {
        let (seconds, attoseconds) = components
        let bound: Int64 = 1 << 36
        let (milliseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return Int(max(-bound, min(seconds, bound)) * 1000 + milliseconds + rest.signum())
    }
}
