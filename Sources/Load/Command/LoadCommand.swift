public import ArgumentParser
import Transport

/// `backscroll load`: loads a server and judges what its subscribers got.
///
/// Exit status: 0 if all went as it should, 1 if the verdict is that it did not, 2 if the run could not begin.
public struct LoadCommand: AsyncParsableCommand {
    /// The command's name and its help.
    public static let configuration = CommandConfiguration(
        commandName: "load", abstract: LoadHelp.abstract, discussion: LoadHelp.discussion)

    @Argument(help: "The address of a Backscroll server, such as http://127.0.0.1:8080.")
    var server: String?

    @Option(name: [.short, .long], help: "Subscribers; number i listens to room i modulo --rooms. (default: 100)")
    var subscribers: Int?

    @Option(help: "Rooms.")
    var rooms = 1

    @Option(help: "Send only to so many of the rooms. (default: all)")
    var activeRooms: Int?

    @Option(help: "Publisher connections, with one request outstanding on each.")
    var inFlight = 32

    @Option(help: "Send so many messages a second, whether or not the server keeps up. (default: as fast as it goes)")
    var rate: Double?

    @Option(help: "Without --rate: a slot is free again after the answer ('ack'), or after all deliveries too.")
    var until = LoadOptions.Until.delivered

    @Option(help: "Bytes of a body: what {pad} fills it up to.")
    var size = 256

    @Option(help: "Seconds to measure.")
    var seconds = 8.0

    @Option(help: "Seconds to send before the measurement begins.")
    var warmup = 1.0

    @Option(help: "Seconds between the last subscription and the first request.")
    var settle = 0.5

    @Option(help: "Seconds without any progress to wait for what is missing. (default: 5, with --reconnect 30)")
    var drain: Double?

    @Option(help: "Handshakes under way at a time.")
    var connectBurst = 200

    @Option(help: "Connections begun in a second. (default: no bound but --connect-burst)")
    var connectRate: Double?

    @Option(help: "Threads of this tool.")
    var threads = 1

    @Flag(help: "Make lost connections again, resume subscriptions, and repeat sends until they are acknowledged.")
    var reconnect = false

    @Flag(help: "Send nothing: hold the connections.")
    var idle = false

    @Option(name: .customLong("pid"), help: "The server's processes, P[,P…]: report their CPU time and memory.")
    var processes: String?

    @Option(help: "Where subscribers connect to, a template: 'ws://127.0.0.1:9000/sub/{room}'.")
    var ws: String?

    @Option(name: .customLong("ws-protocol"), help: "A subprotocol to offer (repeatable).")
    var wsProtocols: [String] = []

    @Option(help: "A text message to send when the socket is open, a template (repeatable).")
    var hello: [String] = []

    @Option(help: "A subscriber is ready when it has received this text. (default: when the socket is open)")
    var ready: String?

    @Option(
        name: [.customLong("post"), .customLong("url")],
        help: "Where requests go, a template: 'http://127.0.0.1:9000/pub/{room}'.")
    var post: String?

    @Option(help: "The requests' method; with GET they are counted and timed, and there are no subscribers.")
    var method = "POST"

    @Option(name: .customLong("header"), help: "A header of requests and upgrades, a template (repeatable).")
    var headers: [String] = []

    @Option(help: "The requests' body, a template with {mark}.")
    var body: String?

    @Option(name: .customLong("rand"), help: "What {rand} is taken from, LOW:HIGH.")
    var random: String?

    @Flag(help: "Print the report as one line of JSON, and no progress.")
    var json = false

    /// Made by the parser.
    public init() {}

    /// Loads the server, prints the report on standard output, and the progress on standard error.
    public func run() async throws {
        let console = Console(isQuiet: json)
        do {
            let plan = try PlanBuilder(options).plan(run: .random(in: 1...Int64(Int32.max)))
            Interruption.watch()
            let report = try await LoadRun(plan, console: console).run()
            print(json ? report.json : ReportText(report).text, terminator: json ? "\n" : "")
            guard report.isGood else { throw ExitCode(1) }
        } catch let error as LoadError {
            try fail(error.description, console)
        } catch let error as TransportError {
            try fail(error.description, console)
        }
    }

    private func fail(_ text: String, _ console: Console) throws -> Never {
        console.clear()
        Console().note("backscroll load: " + text)
        throw ExitCode(2)
    }

    private var options: LoadOptions {
        get throws {
            var options = LoadOptions()
            options.server = server
            options.subscribers = subscribers
            options.rooms = rooms
            options.activeRooms = activeRooms
            options.inFlight = inFlight
            options.rate = rate
            options.until = until
            options.size = size
            options.seconds = seconds
            options.warmup = warmup
            options.settle = settle
            options.drain = drain
            options.connectBurst = connectBurst
            options.connectRate = connectRate
            options.threads = threads
            options.reconnect = reconnect
            options.isIdle = idle
            options.processes = try Self.processes(processes)
            options.ws = ws
            options.wsProtocols = wsProtocols
            options.hello = hello
            options.ready = ready
            options.post = post
            options.method = method
            options.headers = headers
            options.body = body
            options.random = random
            return options
        }
    }

    private static func processes(_ text: String?) throws(LoadError) -> [Int] {
        var processes: [Int] = []
        for part in (text ?? "").split(separator: ",", omittingEmptySubsequences: text == nil) {
            guard let process = Int(part) else { throw LoadError("--pid: '\(part)' is no process number") }
            processes.append(process)
        }
        return processes
    }
}

extension LoadOptions.Until: ExpressibleByArgument {}
