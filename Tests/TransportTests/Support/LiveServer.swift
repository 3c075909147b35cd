import TestSupport
import Transport

/// A call to a connection's handler.
enum Event: Sendable, Equatable {
    case opened
    case received(String)
    case drained
    case turn
    case deadline
    case shuttingDown
    case closed
}

/// The reactions of a handler. By default it echoes, and closes when asked to.
struct Script: Sendable {
    var opened: @Sendable (Connection) -> Void = { _ in }
    var received: @Sendable (Connection, [UInt8]) -> Void = { $0.write($1) }
    var drained: @Sendable (Connection) -> Void = { _ in }
    var turn: @Sendable (Connection) -> Void = { _ in }
    var deadline: @Sendable (Connection) -> Void = { _ in }
    var shuttingDown: @Sendable (Connection) -> Void = { $0.finish() }
    var closed: @Sendable (Connection) -> Void = { _ in }
}

/// Follows a script, and records its calls.
final class ScriptedHandler: ConnectionHandler {
    private let script: Script
    private let events: Recorder<Event>

    init(_ script: Script, on connection: Connection, events: Recorder<Event>) {
        self.script = script
        self.events = events
        events.record(.opened)
        script.opened(connection)
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        let bytes = bytes.withUnsafeBufferPointer { Array($0) }
        // Tests do not look at long text.
        events.record(.received(bytes.count > 100 ? "…" : String(decoding: bytes, as: UTF8.self)))
        script.received(connection, bytes)
    }

    func drained(_ connection: Connection) {
        events.record(.drained)
        script.drained(connection)
    }

    func turnCame(_ connection: Connection) {
        events.record(.turn)
        script.turn(connection)
    }

    func deadlineReached(_ connection: Connection) {
        events.record(.deadline)
        script.deadline(connection)
    }

    func shuttingDown(_ connection: Connection) {
        events.record(.shuttingDown)
        script.shuttingDown(connection)
    }

    func closed(_ connection: Connection) {
        events.record(.closed)
        script.closed(connection)
    }
}

/// A running server on a free port.
struct LiveServer: Sendable {
    let group: LoopGroup
    let port: Int
    /// The calls to all its handlers.
    let events: Recorder<Event>

    var loop: Loop { group.loops[0] }

    /// Waits until `condition` holds after some turn of the loop.
    func waitUntil(_ condition: @escaping @Sendable (Loop) -> Bool) throws {
        let turns = Recorder<Bool>()
        let loop = loop
        loop.post {
            var isMet = false
            loop.atEndOfTurn {
                guard !isMet, condition(loop) else { return }
                isMet = true
                turns.record(true)
            }
        }
        try turns.wait(for: 1)
    }

    /// Waits until no connection is left.
    func waitUntilEmpty() throws {
        try waitUntil { $0.connectionCount == 0 }
    }
}

/// Runs `body` with a server whose connections follow `script`, and always stops it.
func withServer<R>(
    _ script: Script = Script(), loops: Int = 1, host: String = "127.0.0.1",
    limits: TransportLimits = TransportLimits(), certificate: TestCertificate? = nil,
    _ body: (LiveServer) throws -> R
) throws -> R {
    let tls = certificate.map { TLSConfiguration(certificate: $0.certificatePath, key: $0.keyPath) }
    let group = try LoopGroup(count: loops, limits: limits, tls: tls)
    defer { group.stop() }
    let events = Recorder<Event>()
    let port = try group.listen(host: host, port: 0) { ScriptedHandler(script, on: $0, events: events) }
    return try body(LiveServer(group: group, port: port, events: events))
}

extension Loop {
    /// Runs `body` on the loop, and waits for its result.
    func run<R: Sendable>(_ body: @escaping @Sendable () -> R) throws -> R {
        let answer = Recorder<R>()
        post { answer.record(body()) }
        return try answer.wait(for: 1)[0]
    }
}
