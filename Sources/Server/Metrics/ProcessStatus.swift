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
