import Chat
import Testing
import Wire

@Suite struct RoomPresenceTests {
    @Test func `users are listed if there are few`() throws {
        let room = try RoomID("lobby")
        let users = [try UserID("alice"), try UserID("ü\"")]
        #expect(
            written(RoomPresence(room: room, online: 3, users: users).encode)
                == #"{"room":"lobby","online":3,"users":["alice","ü\""]}"#)
        #expect(
            written(RoomPresence(room: room, online: 0, users: []).encode)
                == #"{"room":"lobby","online":0,"users":[]}"#)
        #expect(
            written(RoomPresence(room: room, online: 201, users: nil).encode) == #"{"room":"lobby","online":201}"#)
    }
}
