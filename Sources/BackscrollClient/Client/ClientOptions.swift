import Wire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bounds, the clock and the network of a client. The defaults suit apps.
public struct ClientOptions: Sendable {
    /// Number of messages of a page, 1 to 200.
    public var pageLimit = 30
    /// Maximum number of messages that a room keeps in memory. Beyond it the room drops messages that are far from the
    /// reader, and ``Room/load(_:)`` loads them again. A quarter of it should fill more than three screens. Values
    /// below four pages are raised to four pages; nil drops nothing.
    public var windowLimit: Int? = 2000
    /// The user's time zone for day lines; nil for the device's, which ``BackscrollClient/BackscrollClient/timeZoneChanged()``
    /// and ``BackscrollClient/BackscrollClient/enterForeground()`` read again.
    public var timeZone: TimeZone?
    /// Maximum time of a request, and of the wait for the app's token.
    public var requestTimeout = Duration.seconds(30)
    /// Maximum time for the socket to open.
    public var socketTimeout = Duration.seconds(15)
    /// Time between two pings.
    public var pingInterval = Duration.seconds(25)
    /// Maximum time until the answer to a ping. Without an answer the client closes the socket and reconnects.
    public var pongTimeout = Duration.seconds(15)
    /// Pause before the second attempt to connect. It doubles with each further attempt. The client waits for a random
    /// part of it, at least half.
    public var firstPause = Duration.seconds(1)
    /// Maximum pause between two attempts to connect that the server did not ask for.
    public var longestPause = Duration.seconds(30)
    /// Time for which the socket stays open in the background, or after the last room was closed.
    public var linger = Duration.seconds(5)
    /// Time before a token's expiry at which the client asks for a new one. For short-lived tokens it is a quarter of
    /// their remaining time.
    public var renewalMargin = Duration.seconds(60)
    /// Number of temporary failures after which ``Room/open(at:)`` and ``Inbox/open()`` throw. The room or inbox goes
    /// on trying.
    public var openingFailures = 3
    /// Maximum number of stored messages that a room shows when it is opened. Others are read from the store when the
    /// reader comes near them.
    public var restoredMessages = 200
    /// Time for which changes are collected before they are written to the store. Sends are written at once.
    public var storeDelay = Duration.milliseconds(100)
    /// Called when a room or the inbox cannot use the store, and continues without it. ``BackscrollClientError/code``
    /// is `store_damaged`, `store_newer` or `store_unavailable`. After `store_unavailable` they try the store again;
    /// ``Room/storeFailure`` is nil once it has everything.
    public var onStoreFailure: (@Sendable (BackscrollClientError) -> Void)?
    /// Maximum number of attempts of an edit, a deletion or a reaction, if there is no answer or a temporary error.
    public var changeAttempts = 3
    /// Maximum number of rooms in ``Inbox``: those with the latest activity. A server updates up to 1,000 rooms on a
    /// socket, or fewer if it is configured so. Further rooms stay as they were when the list was loaded.
    public var inboxRooms = 1000
    /// Header fields to send with every request and every socket.
    public var headerFields: [String: String] = [:]
    /// The network; nil for that of the platform.
    public var transport: (any ClientTransport)?
    /// The clock.
    public var clock = ClientClock()
    /// Returns a random number between 0 and 1, for the pauses.
    public var random: @Sendable () -> Double = { .random(in: 0...1) }

    /// Creates the default options.
    public init() {}
}

extension ClientOptions {
    /// The seconds to wait after failures in a row: exponential back-off, of which one half is random.
    func pause(afterFailures failures: Int) -> Double {
        let grown = firstPause.inSeconds * Double(1 << min(max(failures - 1, 0), 20))
        return min(grown, longestPause.inSeconds) * (0.5 + 0.5 * random())
    }
}

/// The clock of a client. Tests pass one that they control.
public struct ClientClock: Sendable {
    /// Returns the time since any fixed moment. It advances while the device sleeps.
    public var elapsed: @Sendable () -> Duration
    /// Returns the milliseconds since 1970.
    public var milliseconds: @Sendable () -> Int64
    /// Sleeps; throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates the system's clock.
    public init() {
        let start = ContinuousClock.now
        elapsed = { ContinuousClock.now - start }
        milliseconds = { Timestamp.now().milliseconds }
        sleep = { try await ContinuousClock().sleep(for: $0) }
    }
}
