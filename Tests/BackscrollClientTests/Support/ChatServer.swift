import BackscrollTimeline
import Foundation
import Logging
import Server
import TestSupport
import Testing
import Tokens
import Transport

@testable import BackscrollClient

/// A server in this process, and clients of it.
final class ChatServer {
    private let directory: TemporaryDirectory
    // No other test's server gets the port while this one is stopped.
    private let reserved: ReservedPort
    private var configuration: ServerConfiguration
    private var server: Server?

    /// Starts a server on a port of 127.0.0.1, with faults unless it has keys.
    init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        reserved = try ReservedPort()
        configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = reserved.number
        configuration.database = directory.path(of: "chat.db")
        configuration.transport.linger = .milliseconds(100)
        configuration.grace = .milliseconds(500)
        configure(&configuration)
        configuration.faults = configuration.tokens == nil
        try start()
    }

    deinit { stop() }

    var url: URL { URL(string: "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(configuration.port)")! }
    var port: Int { configuration.port }

    func start() throws {
        server = try Server(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Lets the next start begin with an empty database.
    func forgetDatabase() {
        configuration.database = directory.path(of: "other.db")
    }

    func stop() {
        server?.stop()
        server = nil
    }

    /// Returns a client whose waits take a fiftieth of their time.
    func client(
        _ name: String = "alice", faults: String? = nil, _ configure: (inout ClientOptions) -> Void = { _ in }
    ) -> BackscrollClient {
        client(.name(name), faults: faults, configure)
    }

    func client(
        _ user: BackscrollClient.User, store: (any ClientStore)? = nil, faults: String? = nil,
        _ configure: (inout ClientOptions) -> Void = { _ in }
    ) -> BackscrollClient {
        var options = ClientOptions()
        options.clock = .fast
        // On that clock a busy machine must not look like a lost connection.
        options.pongTimeout = .seconds(6000)
        options.timeZone = .gmt
        if let faults { options.headerFields["Backscroll-Fault"] = faults }
        configure(&options)
        return BackscrollClient(server: url, user: user, store: store, options: options)
    }

    /// Stores texts in a room, one after another.
    func post(_ texts: String..., to room: String = "lobby", as user: String = "bob") async throws {
        let client = client(user)
        for text in texts { try await client.post(text, to: room) }
    }

    /// Stores the messages `1`, `2` … in a room.
    func fill(_ count: Int, in room: String = "lobby", as user: String = "bob") async throws {
        let client = client(user)
        for number in 1...count { try await client.post("\(number)", to: room) }
    }
}

extension BackscrollClient {
    @discardableResult
    func post(_ text: String, to room: String) async throws -> ChatMessage {
        try await message("POST", "/v1/rooms/\(room)/messages", body: ChatDraft(text).body)
    }

    /// Returns all messages of a room, as the server has them.
    func history(of room: String) async throws -> [ChatMessage] {
        try await page(of: room, .init(anchor: .after(0), limit: 200)).messages
    }
}

extension ClientClock {
    /// A clock on which time passes fifty times as fast.
    static var fast: ClientClock {
        var clock = ClientClock()
        let elapsed = clock.elapsed
        clock.elapsed = { elapsed() * 50 }
        clock.sleep = { try await ContinuousClock().sleep(for: $0 / 50) }
        return clock
    }
}

extension Room {
    /// Waits until what is shown meets a condition.
    @discardableResult
    nonisolated func shows(_ condition: (RoomView) -> Bool) async throws -> RoomView {
        for await change in changes where condition(change.view) { return change.view }
        throw NothingMore(ending: await ending)
    }

    /// Waits until the replay is over.
    @discardableResult
    nonisolated func isLive() async throws -> RoomView {
        try await shows { $0.connection == .live }
    }
}

struct NothingMore: Error {
    let ending: BackscrollClientError?
}

extension RoomView {
    /// The texts of the messages and sends, in order.
    var texts: [String] {
        rows.compactMap { row in
            switch row.content {
            case .message(let message, _): message.text
            case .send(let draft, _): draft.text
            default: nil
            }
        }
    }

    /// The messages, in order.
    var messages: [ChatMessage] {
        rows.compactMap { if case .message(let message, _) = $0.content { message } else { nil } }
    }
}

/// Collects the changes of a room.
actor ChangeLog {
    private(set) var changes: [RoomChange] = []

    func add(_ change: RoomChange) { changes.append(change) }
}
