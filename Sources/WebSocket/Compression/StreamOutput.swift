import CZlib

extension OutputSpan<UInt8> {
    /// Lets zlib write its output into the free capacity until the capacity or the input is used up.
    ///
    /// - Returns: zlib's status.
    mutating func append(
        from stream: UnsafeMutablePointer<z_stream>, by work: (UnsafeMutablePointer<z_stream>, Int32) -> Int32
    ) -> Int32 {
        // zlib writes at most `avail_out` bytes, and its pointer to them is not used after this call.
        withUnsafeMutableBufferPointer { room, count in
            stream.pointee.next_out = room.baseAddress! + count
            stream.pointee.avail_out = UInt32(room.count - count)
            let status = work(stream, Z_SYNC_FLUSH)
            count = room.count - Int(stream.pointee.avail_out)
            stream.pointee.next_out = nil
            return status
        }
    }
}
