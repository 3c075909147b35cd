/// Builds a plan's disturbance from options, or reports which option is wrong.
struct DisturbanceBuilder {
    private let options: DisturbanceArguments
    private let load: LoadArguments

    /// Creates a builder for the command line's options.
    init(_ options: DisturbanceArguments, _ load: LoadArguments) {
        self.options = options
        self.load = load
    }

    /// Returns the disturbance; nil if none was requested.
    ///
    /// - Parameter subscribers: the number of subscribers without it.
    /// - Throws: an error that names the invalid option.
    func disturbance(subscribers: Int) throws(LoadError) -> Plan.Disturbance? {
        guard options.storm != nil || options.stall != nil else { return nil }
        let name = options.storm == nil ? "--stall" : "--storm"
        guard options.storm == nil || options.stall == nil else {
            throw LoadError("--storm and --stall: one at a time")
        }
        guard load.rate != nil, !load.idle, load.messages == nil else {
            throw LoadError("\(name) needs --rate, the rate of messages to the other subscribers")
        }
        guard !load.reconnect else { throw LoadError("\(name) cannot be combined with --reconnect") }
        if let clients = options.storm {
            guard subscribers > 0 else {
                throw LoadError("--storm needs --subscribers, whose deliveries are measured meanwhile")
            }
            return .storm(clients: clients, back: options.back)
        }
        guard let stall = options.stall, (1..<max(subscribers, 2)).contains(stall), stall < subscribers else {
            throw LoadError("--stall must be 1 to \(max(1, subscribers - 1)): at least one subscriber must not stall")
        }
        return .stall(subscribers: stall, .seconds(options.stallSeconds))
    }
}
