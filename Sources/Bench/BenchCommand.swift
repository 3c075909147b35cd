public import ArgumentParser

/// The command `backscroll-tools bench`: times parts of the server and of the client library in isolation.
public struct BenchCommand: AsyncParsableCommand {
    /// The command's name and its help.
    public static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract:
            "Measure the codecs, the feed, the store and the client by themselves, to compare before and after a change.",
        discussion: """
            Each line is one benchmark: the nanoseconds for a unit in the median round, the units per second, and the spread of \
            the rounds. A difference smaller than the spread is not significant; on a busy machine use more rounds. Commits are \
            synced to the disk of --directory. scripts/build-release compiles the client without optimization. To measure it as \
            apps compile it, use `swift run -c release backscroll-tools bench client`.

              backscroll-tools bench
              backscroll-tools bench http json --rounds 21
            """)

    @Argument(
        help:
            "Run only benchmarks with one of these words in their names: http, json, websocket, feed, client, store, …")
    var words: [String] = []

    @Option(help: "The number of rounds; results are medians.")
    var rounds = 7

    @Option(help: "The approximate duration of a round in milliseconds.")
    var roundTime = 50

    @Option(help: "The number of messages in the room whose pages are read.")
    var messages = 100_000

    @Option(help: "The directory of the temporary database.")
    var directory = "/tmp"

    /// Creates a command; for the parser.
    public init() {}

    /// Checks the options.
    public func validate() throws {
        guard (1...1000).contains(rounds) else { throw ValidationError("--rounds must be from 1 to 1000.") }
        guard (1...60_000).contains(roundTime) else {
            throw ValidationError("--round-time must be from 1 to 60000 milliseconds.")
        }
        guard (100...100_000_000).contains(messages) else {
            throw ValidationError("--messages must be from 100 to 100000000.")
        }
    }

    /// Runs the benchmarks and prints one line for each.
    public func run() async throws {
        #if DEBUG
        print("This is a debug build. Its figures do not apply to a release build.")
        #endif
        var found = false
        for benchmark in try CodecBenchmarks.all() + FeedBenchmarks.all() where isWanted(benchmark.name) {
            found = true
            try report(benchmark)
        }
        if isWanted(ClientBenchmarks.name) {
            found = true
            print(BenchReport.line(try await ClientBenchmarks.measure(rounds: rounds)))
        }
        if isWanted(ClientBenchmarks.memoryName) {
            found = true
            let sizes = try await ClientBenchmarks.measureMemory()
            print(BenchReport.line(ClientBenchmarks.memoryName, zip(ClientBenchmarks.memorySteps, sizes)))
        }
        if isWanted("store commit page") {
            found = true
            print("filling a room with \(messages) messages …")
            let store = try StoreBenchmarks(in: directory, messages: messages)
            for benchmark in store.all where isWanted(benchmark.name) { try report(benchmark) }
        }
        guard found else { throw ValidationError("No benchmark has \(words.joined(separator: " or ")) in its name.") }
    }

    private func isWanted(_ name: String) -> Bool {
        words.isEmpty || words.contains { name.contains($0) }
    }

    private func report(_ benchmark: Benchmark) throws {
        let measurement = try benchmark.measure(rounds: rounds, roundTime: .milliseconds(roundTime))
        print(BenchReport.line(measurement))
    }
}

/// The reason why a benchmark failed.
enum BenchError: Error, CustomStringConvertible {
    case wrongResult
    case noDirectory(String)

    var description: String {
        switch self {
        case .wrongResult: "A benchmark produced a wrong result."
        case .noDirectory(let path): "Cannot create a directory in \(path)."
        }
    }
}
