/// The outcome of one send.
enum Fate: UInt8, Sendable {
    /// No answer has arrived.
    case pending
    /// A success answer: every subscriber must get the message.
    case acknowledged
    /// An answer that refuses the message: no subscriber may get it.
    case refused
    /// The connection ended before the answer: the message may or may not exist.
    case unknown
}
