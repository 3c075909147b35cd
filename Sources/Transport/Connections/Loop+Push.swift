import CLibwebsockets
import Glibc

/// Writing to many connections in a row, such as all subscribers of a room.
extension Loop {
    /// Sends bytes to the connection of an outlet if it can take them now, as ``Connection/write(_:)`` would.
    ///
    /// It sends only if the connection has ``Connection/takesPushes`` set, is open and is not congested. If the kernel
    /// does not take all bytes, the connection keeps the rest and becomes congested.
    ///
    /// - Returns: true if the bytes were sent or kept; `false` if nothing was sent, for example because the connection
    ///   has ended.
    public func push(_ bytes: Span<UInt8>, to outlet: Outlet) -> Bool {
        guard let descriptor = outlets[outlet] else { return false }
        // The bytes are valid during the call, in which the kernel copies them.
        let sent = bytes.withUnsafeBufferPointer {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent == bytes.count { return true }
        // The socket is full or broken: the connection detects that too, and handles it.
        guard sent > 0, let connection = connections[outlet.slot] else { return false }
        connection.write(bytes.extracting(droppingFirst: sent))
        return true
    }
}
