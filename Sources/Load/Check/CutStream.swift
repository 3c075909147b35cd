import Wire

/// What has come of a stream that its server cuts anywhere: the end of a piece, where something may begin that the next
/// one completes.
struct CutStream: Sendable {
    private var held: [UInt8] = []

    /// The bytes that wait for the next piece.
    var heldBytes: Int { held.count }

    /// Has the next piece searched, behind what was held of those before it.
    ///
    /// - Parameter search: looks through the bytes, and says how many at their end are to be held.
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
