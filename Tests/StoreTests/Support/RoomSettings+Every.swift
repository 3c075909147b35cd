import Wire

extension RoomSettings {
    /// Settings that differ from those of a new room in each value.
    static let every = RoomSettings(visibility: .private, title: "The room", RoomManners.every)
}

extension RoomManners {
    /// The manners of a room with ``RoomSettings/every``.
    static let every = RoomManners(
        posting: .owners, pinning: .members, slowSeconds: 5, keepDays: 90, avatar: "https://example.com/a",
        data: Array(#"{"a":[1]}"#.utf8), isSearchable: false)
}
