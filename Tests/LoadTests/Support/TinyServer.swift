import Transport

/// A broadcast server with as much of Backscroll's API as a load test uses: rooms in memory, sends that may be
/// repeated, subscriptions that resume. It has the faults that it is asked to have.
final class TinyServer: Sendable {
    /// What it does wrong.
    struct Faults: Sendable {
        /// What is done with one delivery.
        enum Delivery: Sendable {
            case proper, dropped, doubled
            /// Behind the next one.
            case postponed
        }

        /// Decides on each delivery, by the subscriber's turn in its room and the message's seq.
        var delivery: @Sendable (_ subscriber: Int, _ seq: Int) -> Delivery = { _, _ in .proper }
        /// Refuses a send, by how many there were before it.
        var refuses: @Sendable (_ sends: Int) -> Bool = { _ in false }
        /// Refuses every subscription.
        var refusesUpgrades = false
        /// Refuses the subscriptions behind so many.
        var refusesUpgradesFrom = Int.max
        /// Ends each publisher's connection after its answer.
        var closesAfterAnswers = false
        /// Cuts every connection once, when so many messages are stored.
        var cutsEveryoneAt: Int?
        /// Forgets so many messages of each room when it does.
        var forgets = 0
        /// Cuts every connection that is made after that.
        var staysAway = false
        /// Answers so many pages, and no more; if it ``staysAway``, it does so then.
        var answersPages = Int.max
        /// Is told the body of each send.
        var hears: @Sendable (_ body: [UInt8]) -> Void = { _ in }
    }

    /// Where it listens, on 127.0.0.1.
    let port: Int
    private let group: LoopGroup

    /// A server on a port of its own.
    init(_ faults: Faults = Faults(), port: Int = 0, tls: TLSConfiguration? = nil) throws {
        group = try LoopGroup(count: 1, tls: tls)
        let hub = LoopBound(TinyHub(faults), to: group.loops[0])
        let loop = group.loops[0]
        loop.post { loop.atEndOfTurn { hub.value.flush() } }
        self.port = try group.listen(host: "127.0.0.1", port: port) { _ in TinySession(hub.value) }
    }

    /// Its address, as the command takes it.
    var address: String { (group.isSecure ? "https" : "http") + "://127.0.0.1:\(port)" }

    /// Ends it.
    func stop() {
        group.stop()
    }
}
