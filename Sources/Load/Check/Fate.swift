/// What became of one send.
enum Fate: UInt8, Sendable {
    /// No answer has come.
    case pending
    /// A good answer: every subscriber is to get the message.
    case acknowledged
    /// An answer that it was not accepted: no subscriber is to get it.
    case refused
    /// The connection ended before the answer: the message may exist or not.
    case unknown
}
