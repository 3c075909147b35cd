extension PlanBuilder {
    /// Returns the disturbance; nil if none was requested.
    ///
    /// - Parameter subscribers: the number of subscribers without it.
    /// - Throws: an error that names the invalid option.
    func disturbance(subscribers: Int) throws(LoadError) -> Plan.Disturbance? {
        guard disturbances.storm != nil || disturbances.stall != nil else { return nil }
        let name = disturbances.storm == nil ? "--stall" : "--storm"
        guard disturbances.storm == nil || disturbances.stall == nil else {
            throw LoadError("--storm and --stall: one at a time")
        }
        guard load.rate != nil, !load.idle, load.messages == nil else {
            throw LoadError("\(name) needs --rate, the rate of messages to the other subscribers")
        }
        guard !load.reconnect else { throw LoadError("\(name) cannot be combined with --reconnect") }
        if let clients = disturbances.storm {
            guard subscribers > 0 else {
                throw LoadError("--storm needs --subscribers, whose deliveries are measured meanwhile")
            }
            return .storm(clients: clients, back: disturbances.back)
        }
        guard let stall = disturbances.stall, (1..<max(subscribers, 2)).contains(stall), stall < subscribers else {
            throw LoadError("--stall must be 1 to \(max(1, subscribers - 1)): at least one subscriber must not stall")
        }
        return .stall(subscribers: stall, .seconds(disturbances.stallSeconds))
    }
}
