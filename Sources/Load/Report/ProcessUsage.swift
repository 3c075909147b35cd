import Glibc

/// The resource usage of processes and all their descendants, read from `/proc`.
struct ProcessUsage: Equatable, Sendable {
    /// User and kernel CPU time in seconds, including children that have ended.
    var cpuSeconds = 0.0
    /// Memory in bytes: the proportional set size, which divides shared pages among the processes that share them. If
    /// it cannot be read, the resident set size.
    var memory = 0.0

    /// Reads the current usage. Ended processes count as zero.
    static func read(of roots: [Int]) -> ProcessUsage {
        var usage = ProcessUsage()
        guard !roots.isEmpty else { return usage }
        for process in family(of: roots) {
            if let stat = ProcessStat(of: process) {
                // The clock has nanoseconds where the file has ticks of 10 ms, but it does not include children.
                usage.cpuSeconds += clockSeconds(of: process).map { $0 + stat.childSeconds } ?? stat.cpuSeconds
            }
            usage.memory += memory(of: process)
        }
        return usage
    }

    /// Returns the CPU time of a process by its clock (POSIX, `clock_getcpuclockid`), without its children.
    private static func clockSeconds(of process: Int) -> Double? {
        var clock = clockid_t()
        var time = timespec()
        guard let process = pid_t(exactly: process), clock_getcpuclockid(process, &clock) == 0,
            clock_gettime(clock, &time) == 0
        else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The CPU time of this process in seconds.
    static var ownCPUSeconds: Double {
        var usage = rusage()
        guard getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(microseconds) / 1e6
    }

    static func exists(_ process: Int) -> Bool {
        ProcessStat(of: process) != nil
    }

    private static func family(of roots: [Int]) -> Set<Int> {
        var family = Set(roots)
        var parents: [Int: Int] = [:]
        for process in processes() { parents[process] = ProcessStat(of: process)?.parent }
        var grew = true
        while grew {
            grew = false
            for (process, parent) in parents where family.contains(parent) {
                if family.insert(process).inserted { grew = true }
            }
        }
        return family
    }

    private static func processes() -> [Int] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var processes: [Int] = []
        while let entry = readdir(directory) {
            // A directory entry's name ends with a NUL within its 256 bytes (POSIX, <dirent.h>).
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let process = Int(name) { processes.append(process) }
        }
        return processes
    }

    private static func memory(of process: Int) -> Double {
        if let rollup = readSmallFile("/proc/\(process)/smaps_rollup") {
            for line in rollup.split(separator: "\n") where line.hasPrefix("Pss:") {
                let kilobytes = line.dropFirst(4).split(separator: " ").first.flatMap { Double($0) }
                if let kilobytes { return kilobytes * 1024 }
            }
        }
        let pages = readSmallFile("/proc/\(process)/statm")?.split(separator: " ").dropFirst().first
        return pages.flatMap { Double($0) }.map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
    }
}

/// The fields of `/proc/PID/stat` that are used here (proc(5)).
struct ProcessStat: Equatable, Sendable {
    /// The parent's process id.
    let parent: Int
    /// CPU time including ``childSeconds``, in seconds.
    let cpuSeconds: Double
    /// CPU time of children that have ended, in seconds.
    let childSeconds: Double

    /// Reads the line of a process; nil if there is no such process.
    init?(of process: Int) {
        guard let line = readSmallFile("/proc/\(process)/stat") else { return nil }
        self.init(line: line, ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)))
    }

    init?(line: String, ticksPerSecond: Int) {
        // The second field is the program's name, which may contain spaces and parentheses.
        guard let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let parent = Int(fields[1]) else { return nil }
        self.parent = parent
        // Fields 14 to 17 are utime, stime, cutime and cstime.
        func seconds(_ fields: ArraySlice<Substring>) -> Double {
            Double(fields.reduce(0) { $0 + (Int($1) ?? 0) }) / Double(ticksPerSecond)
        }
        cpuSeconds = seconds(fields[11...14])
        childSeconds = seconds(fields[13...14])
    }
}

/// Returns the text of a file of at most 64 KiB.
private func readSmallFile(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    var length = 0
    while length < bytes.count {
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + length, $0.count - length) }
        guard count > 0 else { break }
        length += count
    }
    return length > 0 ? String(decoding: bytes[..<length], as: UTF8.self) : nil
}
