import HTTPTypes
import Wire

/// The resource that a request's path names. A pure function of the path, so this file lists all resources.
enum Route: Equatable {
    case index
    case pageFile(name: String)
    case health
    case readiness
    case metrics
    case description
    case docs
    case rooms
    case room(RoomID)
    case messages(RoomID)
    case message(RoomID, seq: Int64)
    case clientMessage(RoomID, id: String)
    case reaction(RoomID, seq: Int64, ReactionKey)
    case changes(RoomID)
    case read(RoomID)
    case members(RoomID)
    case member(RoomID, UserID)
    case bans(RoomID)
    case ban(RoomID, UserID)
    case user(UserID)
    case allRooms
    case adminUser(UserID)
    case sockets(UserID)
    case serverBans
    case serverBan(UserID)
    case presence(RoomID)
    case live(RoomID)
    case liveRooms

    /// Finds the route of a path.
    ///
    /// - Parameter segments: the path's segments, percent-decoded.
    /// - Returns: `nil` when there is no such resource.
    /// - Throws: 400 when a segment is not a valid room id, user id, `seq` or reaction key.
    init?(_ segments: [String]) throws(Problem) {
        switch segments.count {
        case 1:
            switch segments[0] {
            case "": self = .index
            case "healthz": self = .health
            case "readyz": self = .readiness
            case "metrics": self = .metrics
            case "openapi.json": self = .description
            case "docs": self = .docs
            default: return nil
            }
        case 2:
            if segments[0] == "page" {
                self = .pageFile(name: segments[1])
                return
            }
            guard segments[0] == "v1" else { return nil }
            switch segments[1] {
            case "rooms": self = .rooms
            case "live": self = .liveRooms
            default: return nil
            }
        case 3...7:
            guard segments[0] == "v1" else { return nil }
            switch segments[1] {
            case "rooms": try self.init(inRoom: segments[2], segments[3...])
            case "users" where segments.count == 3: self = .user(try UserID(segments[2]))
            case "admin": try self.init(ofAdmins: segments[2], segments[3...])
            default: return nil
            }
        default:
            return nil
        }
    }

    private init?(ofAdmins kind: String, _ rest: ArraySlice<String>) throws(Problem) {
        switch (kind, rest.count) {
        case ("rooms", 0): self = .allRooms
        case ("users", 1): self = .adminUser(try UserID(rest.first!))
        case ("users", 2) where rest.last == "sockets": self = .sockets(try UserID(rest.first!))
        case ("bans", 0): self = .serverBans
        case ("bans", 1): self = .serverBan(try UserID(rest.first!))
        default: return nil
        }
    }

    private init?(inRoom name: String, _ rest: ArraySlice<String>) throws(Problem) {
        guard let kind = rest.first else {
            self = .room(try RoomID(name))
            return
        }
        let rest = rest.dropFirst()
        switch (kind, rest.count) {
        case ("messages", 0): self = .messages(try RoomID(name))
        case ("changes", 0): self = .changes(try RoomID(name))
        case ("members", 0): self = .members(try RoomID(name))
        case ("members", 1): self = .member(try RoomID(name), try UserID(rest.first!))
        case ("bans", 0): self = .bans(try RoomID(name))
        case ("bans", 1): self = .ban(try RoomID(name), try UserID(rest.first!))
        case ("read", 0): self = .read(try RoomID(name))
        case ("presence", 0): self = .presence(try RoomID(name))
        case ("live", 0): self = .live(try RoomID(name))
        case ("messages", 1): self = .message(try RoomID(name), seq: try Self.seq(rest.first!))
        case ("messages", 2) where rest.first == "by-client-id":
            self = .clientMessage(try RoomID(name), id: rest.last!)
        case ("messages", 3) where rest.dropFirst().first == "reactions":
            self = .reaction(try RoomID(name), seq: try Self.seq(rest.first!), try ReactionKey(rest.last!))
        default: return nil
        }
    }

    private static func seq(_ text: String) throws(Problem) -> Int64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw .invalidField("seq", must: "a decimal number")
        }
        // No message has a number this large, so the lookup finds none.
        return Int64(text) ?? .max
    }

    /// The methods that the resource supports, in addition to OPTIONS. HEAD goes with GET.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .messages: [.get, .head, .post]
        case .message: [.get, .head, .patch, .delete]
        case .reaction: [.get, .head, .put, .delete]
        case .read: [.put]
        case .sockets: [.delete]
        case .user: [.get, .head, .delete]
        case .room: [.get, .head, .put, .delete]
        case .member, .ban, .serverBan: [.get, .head, .put, .delete]
        case .live, .liveRooms: [.get]
        default: [.get, .head]
        }
    }

    /// The room of the resource; `nil` for resources of no room or of several.
    var room: RoomID? {
        switch self {
        case .room(let room), .messages(let room), .message(let room, _), .clientMessage(let room, _),
            .reaction(let room, _, _), .changes(let room), .read(let room), .members(let room), .member(let room, _),
            .bans(let room), .ban(let room, _), .presence(let room), .live(let room):
            room
        case .index, .pageFile, .health, .readiness, .metrics, .description, .docs, .rooms, .liveRooms, .user,
            .serverBans, .serverBan, .allRooms, .adminUser, .sockets:
            nil
        }
    }

    /// True if the resource needs an authenticated caller on a server with keys.
    var needsCaller: Bool {
        switch self {
        case .index, .pageFile, .health, .readiness, .metrics, .description, .docs: false
        default: true
        }
    }

    /// True if the bodies of its requests are JSON.
    var takesJSON: Bool {
        switch self {
        case .messages, .message, .room, .read, .member, .ban, .serverBan: true
        default: false
        }
    }

    /// The methods as the value of an `Allow` header.
    var allowed: String {
        (methods + [.options]).map(\.rawValue).joined(separator: ", ")
    }
}
