import Glibc
import Transport

extension PrometheusRegistry {
    /// Adds the metrics of the process, under the names that Prometheus's client libraries share ("Writing client
    /// libraries: Process metrics").
    ///
    /// They are read from `/proc/self` on each exposition, and left out where that does not exist.
    func observeProcess() {
        let ticks = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        let page = Double(max(sysconf(Int32(_SC_PAGESIZE)), 1))
        // Computed once: it must stay exactly the same, since Prometheus takes a change for a restart.
        let start = ProcessStatus.current.map { bootTime() + Double($0.startTicks) / ticks }

        observeCounter(
            "process_cpu_seconds_total", help: "Processor time spent in user mode and in the kernel, in seconds."
        ) { ProcessStatus.current.map { Double($0.processorTicks) / ticks } }
        observeGauge("process_resident_memory_bytes", help: "Memory that is resident, in bytes.") {
            ProcessStatus.current.map { Double($0.residentPages) * page }
        }
        observeGauge("process_virtual_memory_bytes", help: "Size of the address space, in bytes.") {
            ProcessStatus.current.map { Double($0.virtualBytes) }
        }
        observeGauge("process_open_fds", help: "File descriptors that are open.") {
            openDescriptorCount().map(Double.init)
        }
        observeGauge("process_max_fds", help: "Maximum number of open file descriptors.") {
            maximumDescriptors().map(Double.init)
        }
        observeGauge("process_start_time_seconds", help: "When the process started, in seconds since 1970.") { start }
    }
}

extension ProcessStatus {
    /// The status of this process at the moment; `nil` without `/proc`.
    static var current: ProcessStatus? {
        let descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The line has about 50 numbers of at most 20 digits. The kernel fills the array's own buffer.
        let bytes = [UInt8](unsafeUninitializedCapacity: 2048) { buffer, count in
            count = max(read(descriptor, buffer.baseAddress, buffer.count), 0)
        }
        return ProcessStatus(String(decoding: bytes, as: UTF8.self))
    }
}

/// The time when the system started, in seconds since 1970.
private func bootTime() -> Double {
    seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME)
}

private func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func maximumDescriptors() -> UInt? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return limit.rlim_cur
}

/// The fields of `/proc/self/stat` (proc(5)), in its own units.
struct ProcessStatus: Equatable, Sendable {
    /// Processor time spent by all threads, in user mode and in the kernel, in clock ticks.
    let processorTicks: UInt64
    /// The start time of the process, in clock ticks after the system's start.
    let startTicks: UInt64
    /// The size of the address space, in bytes.
    let virtualBytes: UInt64
    /// The part of it that is resident in memory, in pages.
    let residentPages: UInt64

    /// Parses the line of `/proc/self/stat`; `nil` if it has another form.
    init?(_ line: String) {
        // The second field is the command in parentheses, which may itself contain spaces and parentheses.
        guard let bracket = line.lastIndex(of: ")") else { return nil }
        let fields = line[bracket...].dropFirst().split { $0 == " " || $0 == "\n" }
        // proc(5) numbers the fields from 1; the first field here is number 3.
        func field(_ number: Int) -> UInt64? {
            fields.indices.contains(number - 3) ? UInt64(fields[number - 3]) : nil
        }
        guard
            let user = field(14), let system = field(15), let start = field(22), let virtual = field(23),
            let resident = field(24)
        else { return nil }
        processorTicks = user &+ system
        startTicks = start
        virtualBytes = virtual
        residentPages = resident
    }
}
