package import Chat
package import Wire

/// The changes of access that one commit made, for the other nodes.
///
/// Its text has a line for each change, with fields separated by spaces, which no id contains:
///
///     joined alice lobby 41
///     removed bob lobby
///     ban bob *
package struct AccessEvent: Sendable, Equatable {
    package enum Change: Sendable, Hashable {
        /// A user became a member of a room, which was at this revision before the commit.
        case joined(UserID, RoomID, rev: Int64)
        /// A user is no longer a member of a room.
        case left(UserID, RoomID)
        case deleted(RoomID)
        case removed(UserID, RoomID)
        case becamePrivate(RoomID)
        /// Users have lost rights in a room, but not access to it.
        case restricted(RoomID)
        /// A user's ban from a room, or with `nil` from the whole server, was set or lifted.
        case ban(UserID, RoomID?)
        /// A user is being erased.
        case erasing(UserID)
        /// A user's erasure is done.
        case erased(UserID)
    }

    /// The changes, in order.
    package var changes: [Change] = []

    /// True if the event may take rights away. A node must know such an event before it stores more messages. Each change of
    /// a ban counts, also if the ban was lifted.
    package var isRevocation: Bool {
        changes.contains {
            switch $0 {
            case .joined, .left, .erased: false
            case .deleted, .removed, .becamePrivate, .restricted, .ban, .erasing: true
            }
        }
    }

    /// The text to store.
    package var text: String {
        changes.map { change in
            switch change {
            case .joined(let user, let room, let rev): "joined \(user) \(room) \(rev)"
            case .left(let user, let room): "left \(user) \(room)"
            case .deleted(let room): "deleted \(room)"
            case .removed(let user, let room): "removed \(user) \(room)"
            case .becamePrivate(let room): "private \(room)"
            case .restricted(let room): "restricted \(room)"
            case .ban(let user, let room): "ban \(user) \(room?.string ?? "*")"
            case .erasing(let user): "erasing \(user)"
            case .erased(let user): "erased \(user)"
            }
        }.joined(separator: "\n")
    }

    /// Reads a stored text. Lines of a newer version are ignored.
    package init(text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            func user(_ index: Int) -> UserID { UserID(trusted: fields[index]) }
            func room(_ index: Int) -> RoomID { RoomID(trusted: fields[index]) }
            switch (fields.first, fields.count) {
            case ("joined", 4): changes.append(.joined(user(1), room(2), rev: Int64(fields[3]) ?? 0))
            case ("left", 3): changes.append(.left(user(1), room(2)))
            case ("deleted", 2): changes.append(.deleted(room(1)))
            case ("removed", 3): changes.append(.removed(user(1), room(2)))
            case ("private", 2): changes.append(.becamePrivate(room(1)))
            case ("restricted", 2): changes.append(.restricted(room(1)))
            case ("ban", 3): changes.append(.ban(user(1), fields[2] == "*" ? nil : room(2)))
            case ("erasing", 2): changes.append(.erasing(user(1)))
            case ("erased", 2): changes.append(.erased(user(1)))
            default: break
            }
        }
    }

    /// Creates the event of what a commit has changed.
    ///
    /// - Parameters:
    ///   - bans: The keys of the bans that were set or lifted.
    ///   - erased: The users whose erasure is done.
    ///   - restricted: The rooms in which users have lost rights.
    package init(
        memberships: [MembershipChange], ends: [AccessEnd], bans: some Sequence<BanTable.Key>, erased: Set<UserID>,
        restricted: Set<RoomID>
    ) {
        for change in memberships {
            switch change.kind {
            case .joined(let rev): changes.append(.joined(change.user, change.room, rev: rev))
            case .left: changes.append(.left(change.user, change.room))
            }
        }
        for end in ends {
            switch end {
            case .roomDeleted(let room): changes.append(.deleted(room))
            case .removed(let user, let room): changes.append(.removed(user, room))
            case .becamePrivate(let room): changes.append(.becamePrivate(room))
            case .erased(let user): changes.append(.erasing(user))
            case .banned: break  // among the changes of bans
            case .unknown: break  // never made by a commit
            }
        }
        for key in bans { changes.append(.ban(key.user, key.room)) }
        for user in erased { changes.append(.erased(user)) }
        // The other restrictions are among the changes above.
        if !isRevocation { for room in restricted { changes.append(.restricted(room)) } }
    }
}
