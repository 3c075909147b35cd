/// A user's name and picture, with what an app adds. Messages do not contain them, so they are never out of date.
public struct Profile: Sendable, Hashable {
    /// The user.
    public var user: UserID
    /// The name to show; `nil` if there is none.
    public var name: String?
    /// The `http(s)` URL of a picture; `nil` if there is none.
    public var avatar: String?
    /// Application data: a compact JSON object, or empty.
    public var data: [UInt8]

    /// Creates a profile.
    public init(user: UserID, name: String? = nil, avatar: String? = nil, data: [UInt8] = []) {
        self.user = user
        self.name = name
        self.avatar = avatar
        self.data = data
    }

    /// True without a name, a picture and data. A user with an empty profile has none.
    public var isEmpty: Bool { name == nil && avatar == nil && data.isEmpty }

    /// Returns the profile with these settings.
    public func applying(_ settings: ProfileSettings) -> Profile {
        var profile = self
        if let name = settings.name { profile.name = name.isEmpty ? nil : name }
        if let avatar = settings.avatar { profile.avatar = avatar.isEmpty ? nil : avatar }
        if let data = settings.data { profile.data = data }
        return profile
    }

    /// Appends the profile as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        if let name { out.append(member: "name", name) }
        if let avatar { out.append(member: "avatar", avatar) }
        if !data.isEmpty {
            out.append(memberName: "data")
            out.append(contentsOf: data)
        }
        out.append(UInt8(ascii: "}"))
    }
}

/// Profiles of users, as `GET /v1/profiles` returns them.
public struct Profiles: Sendable, Hashable {
    /// The profiles, sorted by the bytes of their users' ids.
    public var profiles: [Profile]

    /// Creates a list of profiles, all read in one snapshot of the store.
    public init(_ profiles: [Profile]) {
        self.profiles = profiles
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"profiles":"#)
        out.append(array: profiles) { $0.encode(into: &$1) }
        out.append(UInt8(ascii: "}"))
    }

    /// Parses the parameter `users` of `GET /v1/profiles`: ids with commas in between.
    ///
    /// - Returns: The users, each once.
    /// - Throws: 400 `invalid_field` if there is none; 400 `invalid_user`; 422 `too_many`.
    public static func parseUsers(_ string: String?) throws(Problem) -> [UserID] {
        guard let string, !string.isEmpty else {
            throw .invalidField("users", must: "user ids with commas in between")
        }
        let names = string.split(separator: ",", omittingEmptySubsequences: false)
        guard names.count <= Limits.profiles else { throw .tooMany("users", limit: Limits.profiles) }
        var users: [UserID] = []
        for name in names {
            let user = try UserID(name)
            if !users.contains(user) { users.append(user) }
        }
        return users
    }
}

/// What is to change in a profile, as in the body of `PUT /v1/profiles/{user}`.
public struct ProfileSettings: Sendable, Hashable {
    /// The new name, empty to remove it; `nil` to keep it.
    public var name: String?
    /// The new picture's URL, empty to remove it; `nil` to keep it.
    public var avatar: String?
    /// The new data, empty to remove it; `nil` to keep it.
    public var data: [UInt8]?

    /// Creates settings. `nil` keeps a value.
    public init(name: String? = nil, avatar: String? = nil, data: [UInt8]? = nil) {
        self.name = name
        self.avatar = avatar
        self.data = data
    }

    /// Creates settings from claims of a token. A claim that a profile cannot have is ignored, because it is no reason to
    /// refuse the token.
    ///
    /// - Returns: `nil` if neither can be used.
    public init?(claimedName name: String?, picture: String?) {
        if let name, (1...Limits.profileNameBytes).contains(name.utf8.count), !name.utf8.contains(0) {
            self.name = name
        }
        if let picture, picture.utf8.count <= Limits.profileAvatarBytes, WebURL.isValid(picture) { avatar = picture }
        if self.name == nil, avatar == nil { return nil }
    }

    /// Decodes the body. Null means absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if a field has the
    ///   wrong type or `avatar` is no `http(s)` URL; 422 `too_long`, `too_deep`, `nul_character`.
    public static func decode(_ body: [UInt8]) throws(Problem) -> ProfileSettings {
        var reader = try FieldReader(body: body)
        var settings = ProfileSettings()
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "name") {
                settings.name = try reader.string("name", limit: Limits.profileNameBytes)
            } else if reader.json.matches(name, "avatar") {
                settings.avatar = try reader.profileAvatar()
            } else if reader.json.matches(name, "data") {
                settings.data = try reader.data(limit: Limits.profileDataBytes)
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return settings
    }
}

extension FieldReader {
    /// Reads the `http(s)` URL of a user's picture, which may be empty; `nil` for null.
    package mutating func profileAvatar() throws(Problem) -> String? {
        let url = try string("avatar", limit: Limits.profileAvatarBytes)
        if let url, !url.isEmpty, !WebURL.isValid(url) {
            note(.invalidField("avatar", must: "an http or https URL"), isType: true)
        }
        return url
    }
}
