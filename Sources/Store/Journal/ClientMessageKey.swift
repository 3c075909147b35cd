import Wire

/// A client message id, of which a sender has one in a room.
struct ClientMessageKey {
    let sender: UserID
    let id: String
    /// Tells almost all keys of a process apart.
    let hash: UInt64

    init(sender: UserID, id: String) {
        self.sender = sender
        self.id = id
        hash = Self.hash(sender: sender.string.utf8Span.span, id: id.utf8Span.span)
    }

    /// The hash of the key of these bytes, which is the same whenever they are, as long as the process lasts.
    ///
    /// It multiplies words and folds the products, as wyhash does, in an eighth of the time of `Hasher`. Who does not know
    /// the process's secret cannot choose keys that collide; if somebody could, look-ups would take longer, and no more.
    static func hash(sender: Span<UInt8>, id: Span<UInt8>) -> UInt64 {
        let secret = secret
        return mixed(fold(id, into: mixed(fold(sender, into: secret.start), secret.between)), secret.end)
    }

    /// The hash of the key in a room.
    func hash(in room: Int64) -> UInt64 {
        Self.hash(hash, in: room)
    }

    /// The hash of a key that has this one, in a room.
    static func hash(_ hash: UInt64, in room: Int64) -> UInt64 {
        mixed(hash ^ UInt64(bitPattern: room), secret.room)
    }

    private static let secret = (
        start: UInt64.random(), word: UInt64.random(), between: UInt64.random(), end: UInt64.random(),
        room: UInt64.random()
    )

    private static func fold(_ bytes: Span<UInt8>, into start: UInt64) -> UInt64 {
        var hash = start ^ UInt64(truncatingIfNeeded: bytes.count)
        let word = secret.word
        var offset = 0
        while offset + 8 <= bytes.count {
            // The bounds are checked by the load; any eight bytes are a UInt64.
            hash = mixed(hash ^ bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self), word)
            offset += 8
        }
        guard offset < bytes.count else { return hash }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mixed(hash ^ rest, word)
    }

    private static func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return high ^ low
    }
}

extension UInt64 {
    /// A random number, which is odd: a factor that loses nothing.
    fileprivate static func random() -> UInt64 {
        random(in: .min ... .max) | 1
    }
}
