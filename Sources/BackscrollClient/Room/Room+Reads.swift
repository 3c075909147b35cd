import BackscrollTimeline
import Wire

// The read marks of members.

/// The members of a room and their marks, as far as they are loaded for its ``Room/readership``.
struct Receipts: Sendable {
    /// True once ``Room/followReads()`` was called.
    var isFollowed = false
    var isLoading = false
    /// The time of the last request for the read marks and the members.
    var loadedAt: Duration?
    /// The read notices since then.
    var noticed: [String: Int64] = [:]
    /// The ids of all members; nil if they are not loaded, or too many.
    var members: [String]?
    /// The user's own mark in the readership.
    var ownMark: Int64 = 0
}

extension Room {
    /// Time after which the read marks and the members are loaded again: 30 s. No notice tells that others join or leave.
    static let readsInterval = Duration.seconds(30)
    /// Maximum number of members, and of read marks, for a ``readership``: 10,000. In a larger room there is none.
    static let mostMembers = 10_000

    /// Loads who has read what, and keeps ``readership`` and ``readers`` current from then on: by the read notices, after each
    /// lost connection, and every 30 s while the screen is in front, because nothing tells that others have joined
    /// or left. Call it again to load both at once, for example after adding a member.
    ///
    /// - Throws: `receipts_off` if the server tells nobody the marks of others; the server's refusal, such as
    ///   `room_not_found`; a temporary error, after which the room tries again by itself.
    public func followReads() async throws(BackscrollClientError) {
        try checkOpen()
        receipts.isFollowed = true
        do throws(BackscrollClientError) {
            try await loadReads()
        } catch {
            if !error.isTemporary { receipts.isFollowed = false }
            throw error
        }
        await publish()
    }

    /// Returns the read marks at or beyond a message, in the order of the users' ids: who has read it, and since when.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`; 0 for all marks.
    ///   - user: The last user of the previous page; nil for the first page.
    ///   - limit: Maximum number of marks, 1 to 1,000; nil for 200.
    /// - Throws: `receipts_off`, `room_not_found`, `invalid_limit`; a temporary error.
    public func reads(
        from seq: Int64 = 0, after user: String? = nil, limit: Int? = nil
    ) async throws(BackscrollClientError) -> ReadMarkPage {
        try checkOpen()
        return try await client.readMarks(of: id, from: seq, after: user, limit: limit)
    }

    // MARK: Keeping current

    /// Takes a read notice of another user.
    func noteRead(_ user: String, _ seq: Int64) {
        readers[user] = max(seq, readers[user] ?? 0)
        receipts.noticed[user] = max(seq, receipts.noticed[user] ?? 0)
        updateReadership()
    }

    /// Loads the marks and the members again if they may have changed unnoticed.
    func refreshReads(isAfterGap: Bool = false) {
        guard receipts.isFollowed, !receipts.isLoading, ending == nil else { return }
        let isInFront = isScreenActive && isAppActive && machine.view.connection == .live
        let isDue = options.clock.elapsed() - (receipts.loadedAt ?? .zero) >= Self.readsInterval
        guard isAfterGap || (isInFront && isDue) else { return }
        Task { [weak self] in
            // After an error the next refresh tries again.
            guard (try? await self?.loadReads()) != nil else { return }
            await self?.publishSoon()
        }
    }

    /// Updates ``readership`` after the user's own mark may have moved.
    func updateOwnRead() {
        if receipts.members != nil, ownRead != receipts.ownMark { updateReadership() }
    }

    private var ownRead: Int64 { max(mark.seq, machine.view.read ?? 0) }

    private func updateReadership() {
        receipts.ownMark = ownRead
        readership = receipts.members.map { members in
            var marks = readers
            marks[userID] = ownRead
            return Readership(members: members, marks: marks)
        }
        version += 1
    }

    private func loadReads() async throws(BackscrollClientError) {
        receipts.isLoading = true
        defer { receipts.isLoading = false }
        receipts.loadedAt = options.clock.elapsed()
        receipts.noticed = [:]
        let members = try await client.members(of: id, most: Self.mostMembers)
        let marks = try await client.readMarks(of: id, most: Self.mostMembers)
        // The user's own mark is the screen's.
        let others = marks?.filter { $0.userID != userID }.map { ($0.userID, $0.seq) } ?? []
        // Notices that came meanwhile may be newer.
        readers = Dictionary(others, uniquingKeysWith: max).merging(receipts.noticed, uniquingKeysWith: max)
        receipts.members = marks == nil ? nil : members
        updateReadership()
    }
}

/// A user's read mark.
public struct ReadMark: Hashable, Sendable, Identifiable {
    /// The user's id.
    public let userID: String
    /// The `seq` up to which the user has read.
    public let seq: Int64
    /// The time when the mark moved there; nil if the server does not know it.
    public let movedAt: Timestamp?

    /// The user's id.
    public var id: String { userID }

    init?(_ fields: JSONFields) {
        guard let user = fields.strings["user"], let seq = fields.integers["seq"] else { return nil }
        userID = user
        self.seq = seq
        movedAt = fields.strings["at"].flatMap { Timestamp(rfc3339: $0) }
    }
}

/// Some of the read marks of a room.
public struct ReadMarkPage: Hashable, Sendable {
    /// The read marks, in the order of the users' ids.
    public let marks: [ReadMark]
    /// True if there are more. Load the next page after the last user.
    public let hasMore: Bool
}

extension BackscrollClient {
    fileprivate func readMarks(
        of room: String, from seq: Int64 = 0, after user: String?, limit: Int?
    ) async throws(BackscrollClientError) -> ReadMarkPage {
        let from = seq > 0 ? seq.description : nil
        let fields = try await object(
            "GET", target(try path(of: room) + "/reads", ["from": from, "after": user, "limit": limit?.description]))
        return ReadMarkPage(
            marks: fields.elements.compactMap(ReadMark.init), hasMore: fields.booleans["has_more"] ?? false)
    }

    /// Returns all read marks of a room; nil if there are more than `most`.
    fileprivate func readMarks(of room: String, most: Int) async throws(BackscrollClientError) -> [ReadMark]? {
        var marks: [ReadMark] = []
        var hasMore = true
        while hasMore {
            if marks.count >= most { return nil }
            let page = try await readMarks(of: room, after: marks.last?.userID, limit: Limits.reads)
            marks += page.marks
            hasMore = page.hasMore && !page.marks.isEmpty
        }
        return marks
    }

    /// Returns the ids of all members of a room; nil if there are more than `most`.
    fileprivate func members(of room: String, most: Int) async throws(BackscrollClientError) -> [String]? {
        var members: [String] = []
        var hasMore = true
        while hasMore {
            if members.count >= most { return nil }
            let place = members.last.map { "&after=\(percentEncoded($0))" } ?? ""
            let fields = try await object("GET", try path(of: room) + "/members?limit=\(Limits.members)\(place)")
            let page = fields.elements.compactMap(Member.init)
            members += page.map(\.id)
            hasMore = fields.booleans["has_more"] == true && !page.isEmpty
        }
        return members
    }
}
