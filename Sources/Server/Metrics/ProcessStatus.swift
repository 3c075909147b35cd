/// What `/proc/self/stat` tells (proc(5)), in its own units.
struct ProcessStatus: Equatable, Sendable {
    /// Processor time spent by all threads, in user mode and in the kernel, in clock ticks.
    let processorTicks: UInt64
    /// The time when the process started, in clock ticks after the system did.
    let startTicks: UInt64
    /// The size of the address space, in bytes.
    let virtualBytes: UInt64
    /// How much of it is in memory, in pages.
    let residentPages: UInt64

    /// Reads the one line of `/proc/self/stat`; `nil` if it has another form.
    init?(_ line: String) {
        // The second field is the command in brackets, which may have spaces and brackets in it.
        guard let bracket = line.lastIndex(of: ")") else { return nil }
        let fields = line[bracket...].dropFirst().split { $0 == " " || $0 == "\n" }
        // proc(5) numbers the fields from 1, and the first one here is the third.
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
