import Chat
import GRDB
import Synchronization
import TestSupport
import Wire

@testable import Store

/// A log in a real file, with a listener.
final class TestLog: Sendable {
    let path: String
    /// Removes the file when it is released.
    private let owner: any AnyObject & Sendable
    let listener = Listener()
    let log: any OpenLog
    private let questions = Mutex<UInt64>(0)

    /// Opens the log of `directory`, or a new one.
    convenience init(
        in directory: TemporaryDirectory? = nil, _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        try self.init(at: directory.path(of: "log.db"), of: directory, configure)
    }

    /// Opens the log at `path`, and keeps `owner` alive.
    init(
        at path: String, of owner: any AnyObject & Sendable, _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws {
        self.path = path
        self.owner = owner
        var configuration = StoreConfiguration()
        // Tests of the log's file need its actual size.
        configuration.reservedLog = 0
        configuration.usesDatabaseClock = false
        configuration.changeAge = .seconds(3600)
        configure(&configuration)
        log = try Self.open(path, listener, configuration)
    }

    /// Opens a node of a database in PostgreSQL.
    init(
        postgres url: String, subscribers: SubscribedLoops? = nil,
        _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws {
        path = url
        owner = listener
        var configuration = StoreConfiguration()
        configuration.changeAge = .seconds(3600)
        configure(&configuration)
        log = try PostgresLog(
            url: url, observer: listener, subscribers: subscribers, configuration: configuration)
    }

    private static func open(
        _ path: String, _ listener: Listener, _ configuration: StoreConfiguration
    ) throws -> any OpenLog {
        guard TestStore.isPostgres else {
            return try SQLiteLog(path: path, observer: listener, configuration: configuration)
        }
        var configuration = configuration
        configuration.allowsUnsafeDatabase = true
        // The same bounds of expiry as with SQLite.
        configuration.commit.sharedExpiredMessages = configuration.commit.expiredMessages
        configuration.sharedExpiryRooms = configuration.expiryRooms
        configuration.sharedExpiryPause = configuration.expiryPause
        return try PostgresLog(url: TestStore.url(of: path), observer: listener, configuration: configuration)
    }

    func close() {
        log.close()
    }

    /// Closes the log, and opens it again.
    func reopened(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        close()
        return try TestLog(at: path, of: owner, configure)
    }

    /// Works on the database through another connection.
    @discardableResult
    func sql<R>(_ body: (Database) throws -> R) throws -> R {
        var configuration = Configuration()
        // The log may be writing, if only as a probe.
        configuration.busyMode = .timeout(30)
        return try DatabaseQueue(path: path, configuration: configuration).write(body)
    }

    private func ticket() -> Ticket {
        Ticket(
            loop: 0,
            number: questions.withLock {
                $0 += 1
                return $0
            })
    }

    // MARK: Writing

    /// A message to send.
    struct Send {
        var text = "hello"
        var room = "lobby"
        var sender = "alice"
        var id: String?
        var replyTo: Int64?
        var mentions: [String] = []
        var mentionsRoom = false
        var data = ""
        var expectHead: Int64?
        /// The text that the client has sent, if that is another one.
        var original: String?

        var draft: Draft {
            let mentions = Mentions(users: mentions.map { UserID(trusted: $0) }, room: mentionsRoom)
            var draft = Draft(
                clientMessageID: id,
                content: Content(text: text, replyTo: replyTo, mentions: mentions, data: Array(data.utf8)),
                expectHead: expectHead)
            if let original {
                draft.original = draft.content
                draft.original?.text = original
            }
            return draft
        }
    }

    /// Creates submissions of sends.
    func submissions(_ sends: [Send]) throws -> [Submission] {
        try sends.map {
            Submission(
                ticket: ticket(), room: try RoomID($0.room), sender: try UserID($0.sender), change: .send($0.draft))
        }
    }

    /// Creates a submission.
    func submission(
        _ change: Submission.Change, in room: String = "lobby", by user: String, isAdmin: Bool = false
    ) throws -> Submission {
        Submission(
            ticket: ticket(), room: try RoomID(room), sender: try UserID(user), change: change, isAdmin: isAdmin)
    }

    /// Submits a change, and waits for its outcome.
    func outcome(_ submission: Submission) throws -> Result<Receipt, Problem> {
        log.submit([submission])
        return try listener.outcomes([submission.ticket])[0].result
    }

    /// Changes a room or its members, and waits for the commit.
    func change(
        _ change: RoomChange, in room: String = "lobby", by user: String, isAdmin: Bool = false
    ) throws -> Result<Receipt, Problem> {
        try outcome(submission(.room(change), in: room, by: user, isAdmin: isAdmin))
    }

    /// Moves a read mark, and waits for the commit.
    @discardableResult
    func read(to seq: Int64, in room: String = "lobby", as user: String) throws -> Receipt {
        try outcome(submission(.read(seq: seq), in: room, by: user)).get()
    }

    /// Sends messages together, and waits for their outcomes.
    @discardableResult
    func sendAll(_ sends: [Send]) throws -> [Result<Receipt, Problem>] {
        let submissions = try submissions(sends)
        log.submit(submissions)
        return try listener.outcomes(submissions.map(\.ticket)).map(\.result)
    }

    /// Sends a message, and waits for the commit.
    @discardableResult
    func send(_ send: Send) throws -> Receipt {
        try sendAll([send])[0].get()
    }

    /// Fills a room with `count` messages at once, and returns their snapshots.
    @discardableResult
    func fill(_ count: Int, _ room: String = "lobby") throws -> [[UInt8]] {
        try sendAll((0..<count).map { Send(text: "message \($0)", room: room) }).map { try $0.get().body }
    }

    // MARK: Changing

    /// A change of a message.
    struct Change {
        var seq: Int64
        var action: MessageChange.Action
        var room = "lobby"
        var user = "alice"
        var isAdmin = false
        var revs: [Int64]?

        var change: MessageChange {
            MessageChange(seq: seq, action: action, revs: revs)
        }
    }

    /// Creates a submission of a change.
    func submission(_ change: Change) throws -> Submission {
        Submission(
            ticket: ticket(), room: try RoomID(change.room), sender: try UserID(change.user),
            change: .change(change.change), isAdmin: change.isAdmin)
    }

    /// Submits changes together, and waits for their outcomes.
    @discardableResult
    func submitAll(_ submissions: [Submission]) throws -> [Result<Receipt, Problem>] {
        log.submit(submissions)
        return try listener.outcomes(submissions.map(\.ticket)).map(\.result)
    }

    /// Changes a message, and waits for the commit.
    @discardableResult
    func change(_ change: Change) throws -> StoredMessage {
        try submitAll([submission(change)])[0].get().message
    }

    @discardableResult
    func edit(_ seq: Int64, _ text: String, of room: String = "lobby", as user: String = "alice") throws
        -> StoredMessage
    {
        try change(Change(seq: seq, action: .edit(Edit(text: text)), room: room, user: user))
    }

    @discardableResult
    func delete(_ seq: Int64, of room: String = "lobby", as user: String = "alice") throws -> StoredMessage {
        try change(Change(seq: seq, action: .delete, room: room, user: user))
    }

    @discardableResult
    func react(
        _ key: String = "❤️", to seq: Int64, of room: String = "lobby", as user: String = "alice"
    ) throws -> StoredMessage {
        try change(Change(seq: seq, action: .addReaction(ReactionKey(key)), room: room, user: user))
    }

    @discardableResult
    func unreact(
        _ key: String = "❤️", to seq: Int64, of room: String = "lobby", as user: String = "alice"
    ) throws -> StoredMessage {
        try change(Change(seq: seq, action: .removeReaction(ReactionKey(key)), room: room, user: user))
    }

    // MARK: Reading

    /// Returns the read marks of a room.
    func reads(
        of room: String = "lobby", after user: String? = nil, from seq: Int64 = 0, limit: Int = 200,
        for caller: String? = nil
    ) throws -> RoomReads {
        let user = try user.map { try UserID($0) }
        return try ask({ .reads(after: user, from: seq, limit: limit, $0) }, of: room, for: caller)
    }

    /// Creates a query about a room.
    func query<Value>(
        _ read: (Reply<Value>) -> Query.RoomRead, of room: String = "lobby", for user: String? = nil
    ) throws -> Query {
        let room = try RoomID(room)
        let user = try user.map { try UserID($0) }
        return Query(reply(for: user), for: user) { .room(room, read($0)) }
    }

    private func reply<Value>(for user: UserID?) -> Reply<Value> {
        Reply(loop: 0, client: QueryClient(user, or: .connection(0))) { _ in }
    }

    /// Makes a query, and waits for its answer.
    func read<Value>(
        for user: String?, isAdmin: Bool = false, _ kind: (Reply<Value>) -> Query.Kind
    ) throws -> Value {
        let user = try user.map { try UserID($0) }
        let reply: Reply<Value> = reply(for: user)
        let query = Query(reply, for: user, isAdmin: isAdmin, kind)
        log.fetch([query])
        try listener.waitForReplies(to: [query])
        return try reply.result!.get()
    }

    /// Makes a query about a room, and waits for its answer.
    func ask<Value>(
        _ read: (Reply<Value>) -> Query.RoomRead, of room: String = "lobby", for user: String? = nil
    ) throws -> Value {
        let room = try RoomID(room)
        return try self.read(for: user) { .room(room, read($0)) }
    }

    /// Makes queries together, waits for their answers, and returns the reasons why some have none.
    func problems(of queries: [Query]) throws -> [Problem?] {
        log.fetch(queries)
        try listener.waitForReplies(to: queries)
        return queries.map(\.reply.problem)
    }

    func page(
        _ anchor: PageRequest.Anchor = .newest, limit: Int = 30, of room: String = "lobby", for user: String? = nil
    ) throws -> PageSlice {
        try ask({ .page(PageRequest(anchor: anchor, limit: limit), $0) }, of: room, for: user)
    }

    func summary(of room: String = "lobby", for user: String?) throws -> RoomSummary {
        try ask({ .summary($0) }, of: room, for: user)
    }

    func inbox(
        of user: String, after cursor: InboxCursor? = nil, limit: Int = 30, within patterns: [RoomPattern]? = nil
    ) throws -> InboxSlice {
        try read(for: user) { .ownRooms(.inbox(InboxRequest(cursor: cursor, limit: limit), $0), within: patterns) }
    }

    func mentions(
        of user: String, after cursor: MessageCursor? = nil, limit: Int = 30, within patterns: [RoomPattern]? = nil,
        isAdmin: Bool = false
    ) throws -> MentionsSlice {
        let request = MentionsRequest(cursor: cursor, limit: limit)
        return try read(for: user, isAdmin: isAdmin) { .ownRooms(.mentions(request, $0), within: patterns) }
    }

    /// Returns the rooms of a user in the order in which a socket takes them, and whether there are more.
    func memberships(of user: String, limit: Int) throws -> (rooms: [String], hasMore: Bool) {
        let found = try read(for: user) { .ownRooms(.memberships(limit: limit, $0), within: nil) }
        return (found.rooms.map(\.string), found.hasMore)
    }

    /// Makes a user a member of rooms.
    func join(_ rooms: String..., as user: String) throws {
        for room in rooms { _ = try change(.setMember(try UserID(user), nil), in: room, by: user).get() }
    }

    func changes(since: Int64, limit: Int = 200, of room: String = "lobby") throws -> ChangeSlice {
        try ask({ .changes(since: since, limit: limit, $0) }, of: room)
    }

    func replay(
        since: Int64?, as format: PushFormat = .webSocket, bytes: Int = .max, of room: String = "lobby"
    ) throws -> ReplaySlice {
        try ask({ .replay(since: since, format: format, bytes: bytes, $0) }, of: room)
    }

    func state(of room: String = "lobby") throws -> RoomState {
        try ask({ .state($0) }, of: room)
    }

    func stored(_ seq: Int64, of room: String = "lobby") throws -> StoredMessage? {
        try ask({ .message(seq: seq, $0) }, of: room)
    }

    func message(_ seq: Int64, of room: String = "lobby") throws -> [UInt8]? {
        try stored(seq, of: room)?.body
    }

    func message(_ id: String, from sender: String, of room: String = "lobby") throws -> [UInt8]? {
        let sender = try UserID(sender)
        return try ask({ .clientMessage(sender: sender, id: id, $0) }, of: room)?.body
    }
}

extension PendingReply {
    /// The reason why there is no answer; `nil` if there is one, or none yet.
    var problem: Problem? { (self as! any FailingReply).failure }
}

/// A reply whose failure can be read whatever its type.
private protocol FailingReply {
    var failure: Problem? { get }
}

extension Reply: FailingReply {
    fileprivate var failure: Problem? {
        if case .failure(let problem) = result { problem } else { nil }
    }
}

/// Joins snapshots as in a page.
func joined(_ snapshots: some Sequence<[UInt8]>) -> [UInt8] {
    Array(snapshots.joined(separator: [UInt8(ascii: ",")]))
}
