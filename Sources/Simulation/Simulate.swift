import Glibc

/// Runs simulations. Prints what fails, and the seed that repeats it exactly.
@main
enum Simulate {
    static func main() {
        // The order of sets and dictionaries must not differ from one process to the next.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", arguments)
            fail("execv: \(String(cString: strerror(errno)))")
        }
        let arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
        switch arguments.mode {
        case .seed(let seed): exit(run(seed, arguments.mutation, isLoud: true) ? 0 : 1)
        case .seeds(let known, let first, let count, let seconds):
            exit(run(known, first, count, seconds, arguments.mutation) ? 0 : 1)
        case .mutations(let first, let most): exit(findMutations(from: first, atMost: most) ? 0 : 1)
        }
    }

    static func fail(_ text: String) -> Never {
        let line = "backscroll-simulate: \(text)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
        exit(64)
    }

    /// Runs one seed.
    ///
    /// - Returns: True if nothing was violated.
    private static func run(_ seed: UInt64, _ mutation: Mutation?, isLoud: Bool = false) -> Bool {
        let world = World(seed: seed, mutation: mutation)
        let violation = world.run()
        if let violation { print("not ok - seed \(seed): \(violation)") }
        if isLoud {
            let faults = world.faults.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            print(
                "seed \(seed): \(world.oracle.stored) changes stored, \(world.oracle.acknowledgements) acknowledged,",
                "\(world.scheduler.steps) steps, \(world.scheduler.now / 1_000_000) s;",
                faults.isEmpty ? "no faults" : faults.joined(separator: ", "))
        }
        return violation == nil
    }

    /// Runs known seeds, and then new ones for at most some seconds.
    private static func run(
        _ known: [UInt64], _ first: UInt64, _ most: UInt64, _ seconds: Int, _ mutation: Mutation?
    ) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        var failures = known.count { !run($0, mutation) }
        var count: UInt64 = 0
        while count < most, ContinuousClock.now < end {
            if !run(first &+ count, mutation) { failures += 1 }
            count += 1
        }
        print(
            "\(failures == 0 ? "ok" : "not ok") - \(known.count) known seeds and \(count) from \(first) on,",
            "\(failures) failed")
        return failures == 0
    }

    /// Looks for each mutation with the same seeds, which must find nothing without it.
    private static func findMutations(from first: UInt64, atMost most: Int) -> Bool {
        var isGood = true
        var longest = 0
        for mutation in Mutation.allCases {
            var found: (count: Int, violation: String)?
            for count in 1...most {
                if let violation = World(seed: first &+ UInt64(count) &- 1, mutation: mutation).run() {
                    found = (count, violation)
                    break
                }
            }
            if let found {
                longest = max(longest, found.count)
                print("ok - found after \(found.count) seeds: \(mutation.rawValue) (\(found.violation))")
            } else {
                isGood = false
                print("not ok - not found in \(most) seeds: \(mutation.rawValue)")
            }
            fflush(nil)
        }
        for count in 0..<longest where !run(first &+ UInt64(count), nil) { isGood = false }
        print("\(isGood ? "ok" : "not ok") - the \(longest) seeds without a mutation")
        return isGood
    }
}

/// The command line.
private struct Arguments {
    enum Mode {
        case seed(UInt64)
        case seeds(known: [UInt64], first: UInt64, count: UInt64, seconds: Int)
        case mutations(first: UInt64, most: Int)
    }

    var mode: Mode
    var mutation: Mutation?

    init(_ arguments: [String]) {
        var values: [String: String] = [:]
        var index = 0
        while index < arguments.count {
            let name = arguments[index]
            guard ["--seed", "--seeds", "--first", "--seconds", "--corpus", "--mutation", "--mutations"].contains(name)
            else { Simulate.fail("unknown argument \(name)") }
            if name == "--mutations" {
                values[name] = ""
            } else {
                index += 1
                guard index < arguments.count else { Simulate.fail("\(name) needs a value") }
                values[name] = arguments[index]
            }
            index += 1
        }
        func number(_ name: String) -> UInt64? {
            guard let value = values[name] else { return nil }
            guard let number = UInt64(value) else { Simulate.fail("\(name) must be a number") }
            return number
        }
        if let name = values["--mutation"] {
            mutation = Mutation.allCases.first { "\($0)" == name }
            if mutation == nil { Simulate.fail("--mutation must be one of \(Mutation.allCases.map { "\($0)" })") }
        }
        let first = number("--first") ?? UInt64.random(in: 0..<1 << 48)
        let count = number("--seeds") ?? (values["--seconds"] == nil ? 300 : .max)
        let seconds = Int(number("--seconds") ?? 1_000_000)
        if let seed = number("--seed") {
            mode = .seed(seed)
        } else if values["--mutations"] != nil {
            mode = .mutations(first: number("--first") ?? 1, most: Int(number("--seeds") ?? 300))
        } else {
            let known = values["--corpus"].map(Self.corpus) ?? []
            let isCorpusOnly = values["--corpus"] != nil && values["--seeds"] == nil && values["--seconds"] == nil
            mode = .seeds(known: known, first: first, count: isCorpusOnly ? 0 : count, seconds: seconds)
        }
    }

    /// Reads the seeds of a file: one at the beginning of each line, unless that is a comment.
    private static func corpus(_ path: String) -> [UInt64] {
        guard let file = fopen(path, "r") else { Simulate.fail("cannot read \(path)") }
        defer { fclose(file) }
        var seeds: [UInt64] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while getline(&line, &capacity, file) > 0 {
            let words = String(cString: line!).split(whereSeparator: \.isWhitespace)
            if let word = words.first, let seed = UInt64(word) { seeds.append(seed) }
        }
        free(line)
        return seeds
    }
}
