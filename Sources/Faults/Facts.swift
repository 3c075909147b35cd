import Wire

/// The members of the server's JSON that faults depend on. Those of a message are also read inside a frame.
struct Facts {
    private(set) var type = ""
    private(set) var room = ""
    private(set) var rev: Int64 = 0
    private(set) var epoch: String?

    /// Reads an answer or a frame. Other JSON, and other content, has no facts.
    init(_ json: [UInt8]) {
        guard var reader = try? FieldReader(body: json) else { return }
        try? read(&reader)
    }

    private mutating func read(_ reader: inout FieldReader) throws(Problem) {
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "type"), type.isEmpty {
                type = try reader.string("type") ?? ""
            } else if reader.json.matches(name, "room") {
                room = try reader.string("room") ?? ""
            } else if reader.json.matches(name, "rev") {
                rev = try reader.integer("rev") ?? 0
            } else if reader.json.matches(name, "epoch") {
                epoch = try reader.string("epoch")
            } else if reader.json.matches(name, "message"), try reader.json.peek() == .object {
                try reader.json.enterObject()
                try read(&reader)
            } else {
                try reader.json.skipValue()
            }
        }
    }
}
