/// Messages as Server-Sent Events (WHATWG HTML, section 9.2).
public enum EventEncoding {
    /// Appends `event: TYPE` with `data`, which must have no line breaks; our JSON has none.
    public static func append(_ type: StaticString, id: (epoch: String, rev: Int64)?, data: Span<UInt8>, to out: inout [UInt8])
    {
        out.append(contentsOf: "event: ".utf8)
        type.withUTF8Buffer { out.append(contentsOf: $0) }
        if let id {
            out.append(contentsOf: "\nid: ".utf8)
            out.append(contentsOf: id.epoch.utf8)
            out.append(UInt8(ascii: ":"))
            out.append(contentsOf: String(id.rev).utf8)
        }
        out.append(contentsOf: "\ndata: ".utf8)
        data.withUnsafeBufferPointer { out.append(contentsOf: $0) }
        out.append(contentsOf: "\n\n".utf8)
    }

    /// A batch's messages as events.
    static func events(of batch: Batch, epoch: String) -> (bytes: [UInt8], ends: [Int]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(batch.frames.count + batch.ends.count * 64)
        var ends: [Int] = []
        ends.reserveCapacity(batch.ends.count)
        var start = 0
        for (index, end) in batch.ends.enumerated() {
            let payload = start + headerLength(batch.frames, at: start)
            append(
                "message", id: (epoch, batch.firstRev + Int64(index)), data: batch.frames.span.extracting(payload..<end),
                to: &bytes)
            ends.append(bytes.count)
            start = end
        }
        return (bytes, ends)
    }

    /// The length of the header of an unmasked frame (RFC 6455, section 5.2).
    private static func headerLength(_ frames: [UInt8], at start: Int) -> Int {
        switch frames[start + 1] {
        case 126: 4
        case 127: 10
        default: 2
        }
    }
}
