import CLibwebsockets
import Glibc

/// Writes to many connections in a row, as to all subscribers of a room.
extension Loop {
    /// Sends bytes to the connection of an outlet if it takes them now, as ``Connection/write(_:)`` would.
    ///
    /// It is as if the connection had been asked whether it ``Connection/takesPushes``, is open and not congested. What the
    /// kernel does not take the connection keeps, and is congested then.
    ///
    /// - Returns: whether the bytes are on their way; `false` when nothing was sent, be it that the connection has ended.
    public func push(_ bytes: Span<UInt8>, to outlet: Outlet) -> Bool {
        guard let descriptor = outlets[outlet] else { return false }
        // The bytes are the caller's for as long as the call lasts, in which the kernel copies them.
        let sent = bytes.withUnsafeBufferPointer {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent == bytes.count { return true }
        // A socket that takes nothing, or is broken: the connection finds out as well, and does what is to be done.
        guard sent > 0, let connection = connections[outlet.slot] else { return false }
        connection.write(bytes.extracting(droppingFirst: sent))
        return true
    }
}
