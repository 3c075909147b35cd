import Transport

/// A broadcast server with the part of Backscroll's API that load tests use: rooms in memory, repeatable sends, and
/// resumable subscriptions. Has the requested faults.
final class TinyServer: Sendable {
    /// The server's faults.
    struct Faults: Sendable {
        /// The treatment of one delivery.
        enum Delivery: Sendable {
            case proper, dropped, doubled
            /// Delivered after the next one.
            case postponed
        }

        /// Decides on each delivery, by the subscriber's number in its room and the message's seq.
        var delivery: @Sendable (_ subscriber: Int, _ seq: Int) -> Delivery = { _, _ in .proper }
        /// Decides whether to refuse a send, by the number of earlier ones.
        var refuses: @Sendable (_ sends: Int) -> Bool = { _ in false }
        /// Refuses every subscription.
        var refusesUpgrades = false
        /// Refuses the subscriptions after this many.
        var refusesUpgradesFrom = Int.max
        /// Closes each publisher's connection after its answer.
        var closesAfterAnswers = false
        /// Cuts every connection once, when this many messages are stored.
        var cutsEveryoneAt: Int?
        /// The number of messages of each room that are lost in the cut.
        var forgets = 0
        /// Cuts every later connection, too.
        var staysAway = false
        /// The number of pages that are answered; with ``staysAway``, after the cut.
        var answersPages = Int.max
        /// Called with the body of each send.
        var hears: @Sendable (_ body: [UInt8]) -> Void = { _ in }
    }

    /// The port on 127.0.0.1.
    let port: Int
    private let group: LoopGroup

    /// Starts a server on a free port.
    init(_ faults: Faults = Faults(), port: Int = 0, tls: TLSConfiguration? = nil) throws {
        group = try LoopGroup(count: 1, tls: tls)
        let hub = LoopBound(TinyHub(faults), to: group.loops[0])
        let loop = group.loops[0]
        loop.post { loop.atEndOfTurn { hub.value.flush() } }
        self.port = try group.listen(host: "127.0.0.1", port: port) { _ in TinySession(hub.value) }
    }

    /// The server's address, for the command.
    var address: String { (group.isSecure ? "https" : "http") + "://127.0.0.1:\(port)" }

    /// Stops the server.
    func stop() {
        group.stop()
    }
}
