import Wire

/// Statements about profiles. An empty text stands for what a profile does not have, like NULL.
extension SQLDatabase {
    /// Changes a profile, or adds it.
    func setProfile(_ settings: ProfileSettings, of user: UserID) throws {
        let data = settings.data.map { String(decoding: $0, as: UTF8.self) }
        // Two nodes may change different parts at once.
        try runSoon(
            """
            INSERT INTO profiles ("user", name, avatar, data) VALUES ($1, $2, $3, $4)
            ON CONFLICT ("user") DO UPDATE SET name = coalesce(excluded.name, profiles.name),
                avatar = coalesce(excluded.avatar, profiles.avatar), data = coalesce(excluded.data, profiles.data)
            """, user, settings.name, settings.avatar, data)
    }

    func deleteProfile(of user: UserID) throws {
        try runSoon("DELETE FROM profiles WHERE \"user\" = $1", user)
    }

    /// Returns a user's profile; `nil` if there is none.
    func profile(of user: UserID) throws -> Profile? {
        try first("SELECT \"user\", name, avatar, data FROM profiles WHERE \"user\" = $1", user) {
            Profile($0, user: 0, content: 1)
        } ?? nil
    }

    /// Returns a user's profile, for a transaction that changes it; `nil` if there is none.
    func profileToChange(of user: UserID) throws -> Profile? {
        if let profile = try profile(of: user) { return profile }
        // There may be no row to lock. Another transaction that adds the first profile is awaited.
        try lockProfile(of: user)
        return try profile(of: user)
    }

    /// Returns the profiles of users, in the byte order of their ids; those who have none are left out.
    ///
    /// - Parameter users: At least one, and at most ``Limits/profiles``.
    func profiles(of users: [UserID]) throws -> [Profile] {
        let select = try prepare(Profile.select)
        // One statement for any number of users: the last one fills up.
        for index in 0..<Limits.profiles {
            try select.bind(users[min(index, users.count - 1)].string, at: Int32(index + 1))
        }
        return try select.allRows { Profile($0, user: 0, content: 1) }.compactMap(\.self)
    }

    /// Returns at most `limit` members after `user`, in the byte order of their ids, with their profiles.
    func membersWithProfiles(of room: Int64, after user: UserID?, limit: Int) throws -> [RoomMember] {
        try all(
            """
            SELECT members."user", owner, profiles."user", name, avatar, data FROM members
                LEFT JOIN profiles ON profiles."user" = members."user"
            WHERE room = $1 AND members."user" > $2 AND \(Erasures.isPresent("members.\"user\"", in: "$1"))
            ORDER BY members."user" LIMIT $3
            """, room, user?.string ?? " ", limit
        ) { row in
            RoomMember(
                user: UserID(trusted: row.text(0)), role: RoomMember.Role(row.integer(1)),
                profile: row.isNull(2) ? nil : Profile(row, user: 2, content: 3))
        }
    }
}

extension Profile {
    /// Selects the profiles of ``Limits/profiles`` users.
    static let select = """
        SELECT "user", name, avatar, data FROM profiles
        WHERE "user" IN (\((1...Limits.profiles).map { "$\($0)" }.joined(separator: ", "))) ORDER BY "user"
        """

    /// Returns the profile in a row; `nil` if it is empty, because all it had was removed.
    ///
    /// - Parameters:
    ///   - user: The column of the user.
    ///   - content: The first of the columns `name`, `avatar` and `data`.
    init?(_ row: some SQLStatement, user: Int32, content: Int32) {
        func text(_ index: Int32) -> String? {
            if row.isNull(index) { return nil }
            let text = row.text(index)
            return text.isEmpty ? nil : text
        }
        self.init(
            user: UserID(trusted: row.text(user)), name: text(content), avatar: text(content + 1),
            data: text(content + 2).map { Array($0.utf8) } ?? [])
        if isEmpty { return nil }
    }
}
