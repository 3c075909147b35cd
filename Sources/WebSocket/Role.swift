/// Which end of the connection a codec stands on. Clients mask what they send, servers never do (RFC 6455 §5.1).
public enum Role: Sendable {
    /// Reads masked frames and writes unmasked ones.
    case server
    /// Reads unmasked frames and writes masked ones.
    case client
}
