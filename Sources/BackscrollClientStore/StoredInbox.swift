import BackscrollClient
import Foundation
import GRDB

/// The rows of the list of a user's rooms, within a transaction.
struct StoredInbox {
    private let db: Database
    private let account: StoreAccount

    init(_ db: Database, of account: StoreAccount) {
        self.db = db
        self.account = account
    }

    /// Returns the rooms in the order of the list.
    func load() throws -> [StoredInboxRoom] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT inbox.json, inbox.latest, inbox.place FROM backscroll_inbox AS inbox
                JOIN backscroll_account AS account ON account.id = inbox.account
                WHERE account.server = ? AND account.user = ? ORDER BY inbox.latest DESC, inbox.place, inbox.name
                """,
            arguments: [account.server, account.user])
        var rooms: [StoredInboxRoom] = []
        while let row = try rows.next() {
            let json: Data = row[0]
            rooms.append(StoredInboxRoom(room: try RoomSummary(json: Array(json)), latest: row[1], place: row[2]))
        }
        return rooms
    }

    /// Applies changes in their order.
    func apply(_ changes: [InboxStoreChange]) throws {
        let id = try account.row(creatingIn: db)
        for change in changes {
            switch change {
            case .put(let stored):
                try db.cachedStatement(
                    sql:
                        "INSERT OR REPLACE INTO backscroll_inbox (account, name, latest, place, json) VALUES (?, ?, ?, ?, ?)"
                ).execute(
                    arguments: [id, stored.room.id, stored.latest, stored.place, Data(stored.room.json)])
            case .remove(let room):
                try db.cachedStatement(sql: "DELETE FROM backscroll_inbox WHERE account = ? AND name = ?")
                    .execute(arguments: [id, room])
            }
        }
    }
}

extension StoreAccount {
    /// Returns the id of the account's row, and creates the row if there is none.
    func row(creatingIn db: Database) throws -> Int64 {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO backscroll_account (server, user) VALUES (?, ?)")
            .execute(arguments: [server, user])
        let statement = try db.cachedStatement(sql: "SELECT id FROM backscroll_account WHERE server = ? AND user = ?")
        guard let id = try Int64.fetchOne(statement, arguments: [server, user]) else {
            throw BackscrollClientError(
                code: BackscrollClientError.storeUnavailable, message: "The store has lost a row that it just wrote.")
        }
        return id
    }
}
