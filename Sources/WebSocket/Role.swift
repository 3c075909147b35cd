/// The end of a connection. Clients mask the frames that they send, servers never do (RFC 6455 §5.1).
public enum Role: Sendable {
    /// Reads masked frames and writes unmasked ones.
    case server
    /// Reads unmasked frames and writes masked ones.
    case client
}
