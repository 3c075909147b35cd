import Chat
import Wire

/// The bans of the table, with the changes of a commit.
struct BanView {
    let table: BanTable
    /// The bans that the commit has set, and lifted (`nil`).
    var changes: [BanTable.Key: Ban?] = [:]
    /// The rooms that the commit has deleted.
    var deletedRooms: [RoomID] = []

    /// Returns a user's bans from a room and from the server, also those that have ended.
    func bans(of user: UserID, in room: RoomID?) -> [BanTable.Key: Ban] {
        var bans = table.bans(of: user, in: room)
        if changes.isEmpty { return bans }
        for key in BanTable.keys(of: user, in: room) { if let change = changes[key] { bans[key] = change } }
        return bans
    }

    /// Applies the changes, which are durable, to the table.
    func apply(at time: Timestamp) {
        if !changes.isEmpty { table.change(changes, at: time) }
        for room in deletedRooms { table.remove(room) }
    }
}
