/// Makes a plan's disturbance of options, or says what is wrong with them.
struct DisturbanceBuilder {
    private let options: DisturbanceArguments
    private let load: LoadArguments

    /// A builder for what was said on the command line.
    init(_ options: DisturbanceArguments, _ load: LoadArguments) {
        self.options = options
        self.load = load
    }

    /// Makes it; nil if there is to be none.
    ///
    /// - Parameter subscribers: how many there are without it.
    /// - Throws: an error that names the option which cannot be used.
    func disturbance(subscribers: Int) throws(LoadError) -> Plan.Disturbance? {
        guard options.storm != nil || options.stall != nil else { return nil }
        let name = options.storm == nil ? "--stall" : "--storm"
        guard options.storm == nil || options.stall == nil else {
            throw LoadError("--storm and --stall: one at a time")
        }
        guard load.rate != nil, !load.idle, load.messages == nil else {
            throw LoadError("\(name) needs --rate, at which the others get messages meanwhile")
        }
        guard !load.reconnect else { throw LoadError("\(name) does not go with --reconnect") }
        if let clients = options.storm {
            guard (1...1_000_000).contains(clients) else { throw LoadError("--storm must be 1 to 1000000 clients") }
            guard (0...10_000_000).contains(options.back) else {
                throw LoadError("--back must be 0 to 10000000 messages")
            }
            guard subscribers > 0 else { throw LoadError("--storm needs --subscribers, which are watched meanwhile") }
            return .storm(clients: clients, back: options.back)
        }
        guard let stall = options.stall, (1..<max(subscribers, 2)).contains(stall), stall < subscribers else {
            throw LoadError("--stall must be 1 to \(max(1, subscribers - 1)), for there must be others")
        }
        guard options.stallSeconds > 0, options.stallSeconds <= 3600 else {
            throw LoadError("--stall-seconds must be more than 0, 3600 at most")
        }
        return .stall(subscribers: stall, .seconds(options.stallSeconds))
    }
}
