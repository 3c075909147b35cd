import WebSocket
import Wire

/// Frames messages for subscribers whose sockets have agreed on compression (RFC 7692).
///
/// A message is compressed by itself, so that its bytes are the same for all of them. One of these does for a thread.
public final class PushDeflater {
    /// The base-2 logarithm of the window that messages are compressed with: what a socket may agree to.
    public static let windowBits = Deflater.defaultWindowBits
    /// The fewest bytes of JSON that are compressed. Below, less than a tenth would be saved; the messages that people
    /// write are longer.
    public static let minimumBytes = 100

    private var deflater = Deflater()
    private var json: [UInt8] = []
    private var payload: [UInt8] = []

    /// A deflater, of about 40 KiB.
    public init() {}

    /// Appends a message as an unmasked text frame, compressed if that makes it shorter.
    public func appendFrame(_ snapshot: Span<UInt8>, to frames: inout [UInt8]) {
        guard snapshot.count + ServerFrame.messageOverhead >= Self.minimumBytes else {
            return PushEncoding.appendFrame(snapshot, to: &frames)
        }
        json.removeAll(keepingCapacity: true)
        ServerFrame.appendMessage(snapshot, to: &json)
        let message = json
        payload.removeAll(keepingCapacity: true)
        deflater.append(message.span, to: &payload)
        let deflated = payload
        guard deflated.count < message.count else { return PushEncoding.appendFrame(snapshot, to: &frames) }
        Frame.append(.text, payload: deflated.span, rsv1: true, into: &frames)
    }
}
