public import Wire

/// The progress of a user's erasure, the answer to `DELETE` and `GET /v1/users/{user}`.
public struct ErasureStatus: Sendable, Hashable {
    /// The state of an erasure.
    public enum State: String, Sendable, Hashable {
        /// The erasure is in progress.
        case erasing
        /// Nothing of the user is left.
        case erased
    }

    /// The erased user.
    public var user: UserID
    /// The state of the erasure.
    public var state: State
    /// The number of messages that have become tombstones so far.
    public var messages: Int64

    /// Creates a status.
    public init(user: UserID, state: State, messages: Int64) {
        self.user = user
        self.state = state
        self.messages = messages
    }

    /// Appends the status as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "state", state.rawValue)
        out.append(member: "messages", messages)
        out.append(UInt8(ascii: "}"))
    }
}
