/// The bounds of the numeric options. They are checked before the run begins.
enum NumberBounds {
    /// `--subscribers`: the maximum exceeds the number of descriptors that a process can get.
    static let subscribers = 0...1_000_000
    /// `--rooms`: each takes memory on each loop.
    static let rooms = 1...1_000_000
    /// `--in-flight`.
    static let inFlight = 1...10_000
    /// `--rate`, per second: from one request in 1000 s.
    static let rate = 0.001...1_000_000
    /// `--messages`.
    static let messages = 1...100_000_000
    /// `--size`, in bytes.
    static let size = 0...1 << 20
    /// `--storm`, in clients.
    static let storm = 1...1_000_000
    /// `--back`, in messages.
    static let back = 0...10_000_000
    /// `--stall`. It must be less than the number of subscribers.
    static let stall = 1...1_000_000
    /// `--stall-seconds`.
    static let stallSeconds = 0.001...3600
    /// `--seconds`.
    static let seconds = 0.001...86_400
    /// `--warmup`, `--settle` and `--drain`, in seconds.
    static let pause = 0.0...86_400
    /// `--connect-burst`, in handshakes.
    static let connectBurst = 1...1_000_000
    /// `--connect-rate`, per second.
    static let connectRate = 0.001...1_000_000
    /// `--threads`.
    static let threads = 1...64

    /// Checks the options for the amount of work.
    ///
    /// - Throws: an error that names the option and its bounds.
    static func check(_ load: LoadArguments) throws(LoadError) {
        try check(load.subscribers, subscribers, "--subscribers")
        try check(load.rooms, rooms, "--rooms")
        try check(load.activeRooms, 1...load.rooms, "--active-rooms")
        try check(load.inFlight, inFlight, "--in-flight")
        try check(load.rate, rate, "--rate")
        try check(load.size, size, "--size")
        try check(load.messages, messages, "--messages")
    }

    /// Checks the options for disturbances in the same way.
    static func check(_ disturbances: DisturbanceArguments) throws(LoadError) {
        try check(disturbances.storm, storm, "--storm")
        try check(disturbances.back, back, "--back")
        try check(disturbances.stall, stall, "--stall")
        try check(disturbances.stallSeconds, stallSeconds, "--stall-seconds")
    }

    /// Checks the options for durations in the same way.
    static func check(_ timing: TimingArguments) throws(LoadError) {
        try check(timing.seconds, seconds, "--seconds")
        try check(timing.warmup, pause, "--warmup")
        try check(timing.settle, pause, "--settle")
        try check(timing.drain, pause, "--drain")
    }

    /// Checks the options for the tool in the same way.
    static func check(_ tool: ToolArguments) throws(LoadError) {
        try check(tool.connectBurst, connectBurst, "--connect-burst")
        try check(tool.connectRate, connectRate, "--connect-rate")
        try check(tool.threads, threads, "--threads")
    }

    private static func check<Number: Comparable>(
        _ number: Number?, _ bounds: ClosedRange<Number>, _ option: String
    ) throws(LoadError) {
        guard let number, !bounds.contains(number) else { return }
        let (low, high, given) = (text(bounds.lowerBound), text(bounds.upperBound), text(number))
        throw LoadError("\(option) must be from \(low) to \(high), not \(given)")
    }

    /// Returns a number as a person writes it: without decimals if it is whole.
    private static func text(_ number: some Comparable) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
