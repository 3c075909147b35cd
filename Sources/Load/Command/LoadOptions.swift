/// What can be said on the command line, as it was said.
struct LoadOptions: Sendable {
    /// When a slot is free again.
    enum Until: String, CaseIterable, Sendable {
        /// After the answer.
        case ack
        /// After the answer, and when every subscriber of the room has the message.
        case delivered
    }

    var server: String?
    var subscribers: Int?
    var rooms = 1
    var activeRooms: Int?
    var inFlight = 32
    var rate: Double?
    var until = Until.delivered
    var size = 256
    var seconds = 8.0
    var warmup = 1.0
    var settle = 0.5
    var drain: Double?
    var connectBurst = 200
    var connectRate: Double?
    var threads = 1
    var reconnect = false
    var processes: [Int] = []
    var ws: String?
    var wsProtocols: [String] = []
    var hello: [String] = []
    var ready: String?
    var post: String?
    var method = "POST"
    var headers: [String] = []
    var body: String?
    var random: String?
    var isIdle = false
}
