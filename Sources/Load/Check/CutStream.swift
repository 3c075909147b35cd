import Wire

/// A stream that the server splits at arbitrary positions. If the end of a piece may be the beginning of a text, it is
/// held until the next piece.
struct CutStream: Sendable {
    /// The bytes held for the next piece.
    private(set) var held: [UInt8] = []

    /// Searches the next piece together with the held bytes before it.
    ///
    /// - Parameter search: searches the bytes, and returns the number of bytes at the end to hold.
    mutating func take(_ piece: Span<UInt8>, _ search: (Span<UInt8>) -> Int) {
        guard !held.isEmpty else {
            let kept = search(piece)
            if kept > 0 { held.append(copying: piece.extracting((piece.count - kept)...)) }
            return
        }
        held.append(copying: piece)
        held.removeFirst(held.count - search(held.span))
    }
}
