import BackscrollTimeline

extension JSONWriter {
    mutating func writeError(_ message: String) {
        raw("{\"error\":")
        write(message)
        raw("}")
    }

    mutating func writeAnswer(_ effects: [DriverTimeline.Effect], _ view: DriverTimeline.View) {
        raw("{\"effects\":")
        list(effects) { $0.write($1) }
        raw(",\"view\":")
        write(view)
        raw("}")
    }

    mutating func list<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        raw("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            write(&self, element)
        }
        raw("]")
    }

    mutating func optional<Value>(_ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        if let value { write(&self, value) } else { raw("null") }
    }

    private mutating func write(_ effect: DriverTimeline.Effect) {
        raw("{\"effect\":")
        switch effect {
        case .fetch(let request, let query):
            raw("\"fetch\",\"request\":\(request),\"query\":{")
            switch query.anchor {
            case .newest: break
            case .aroundUnread: raw("\"around\":\"unread\",")
            case .aroundMention: raw("\"around\":\"mention\",")
            case .around(let seq): raw("\"around\":\(seq),")
            case .before(let seq): raw("\"before\":\(seq),")
            case .after(let seq): raw("\"after\":\(seq),")
            }
            raw("\"limit\":\(query.limit)}")
        case .subscribe(let since, let epoch):
            raw("\"subscribe\",\"since\":")
            write(since)
            raw(",\"epoch\":")
            write(epoch)
        case .post(let draft):
            raw("\"post\",\"draft\":")
            write(draft.json)
        case .markRead(let seq): raw("\"mark_read\",\"seq\":\(seq)")
        case .scroll(.bottom): raw("\"scroll\",\"to\":\"bottom\"")
        case .scroll(.row(let id)):
            raw("\"scroll\",\"to\":")
            write(id.description)
        }
        raw("}")
    }

    private mutating func write(_ view: DriverTimeline.View) {
        raw("{\"rows\":")
        list(view.rows) { $0.write($1) }
        raw(",\"before\":\"\(view.before.rawValue)\",\"after\":\"\(view.after.rawValue)\"")
        raw(",\"connection\":\"\(view.connection.rawValue)\",\"epoch\":")
        optional(view.epoch) { $0.write($1) }
        raw(",\"rev\":")
        write(view.rev)
        raw(",\"unread\":")
        write(view.unread)
        raw(",\"read\":")
        optional(view.read) { $0.write($1) }
        raw(",\"toast\":")
        optional(view.toast) { $0.raw("{\"count\":\($1.count),\"seq\":\($1.seq)}") }
        raw(",\"typing\":")
        list(view.typing) { $0.write($1) }
        raw(",\"online\":")
        optional(view.online) { $0.write($1) }
        raw(",\"phase\":\"\(view.phase.rawValue)\"}")
    }

    private mutating func write(_ row: DriverTimeline.Row) {
        raw("{\"key\":")
        write(row.id.description)
        switch row.content {
        case .dayLine, .unreadLine: break
        case .message(let message, let isMine):
            raw(",\"seq\":\(message.seq),\"rev\":\(message.rev)")
            raw(",\"state\":\"\(message.isDeleted ? "deleted" : "stored")\"\(isMine ? ",\"mine\":true" : "")")
            if row.isFolded { raw(",\"folded\":true") }
        case .send(_, .queued): raw(",\"state\":\"queued\",\"mine\":true")
        case .send(_, .sending): raw(",\"state\":\"sending\",\"mine\":true")
        case .send(_, .failed(let code)):
            raw(",\"state\":\"failed\",\"mine\":true,\"code\":")
            optional(code) { $0.write($1) }
        }
        raw("}")
    }
}

extension JSONWriter {
    /// Writes what a readership tells of each row that has a number.
    mutating func writeReadership(_ readership: Readership, _ view: DriverTimeline.View) {
        raw("{\"readership\":")
        list(view.rows.filter { $0.unreadCount(in: readership) != nil }) { writer, row in
            writer.raw("{\"key\":")
            writer.write(row.id.description)
            writer.raw(",\"unread\":\(row.unreadCount(in: readership) ?? 0),\"tick\":")
            writer.optional(row.tick(in: readership)?.rawValue) { $0.write($1) }
            writer.raw(",\"readers\":")
            writer.list(row.readers(in: readership)) { $0.write($1) }
            writer.raw("}")
        }
        raw("}")
    }
}

extension Readership {
    /// Reads members and marks: `{"members":["bob"],"marks":{"bob":7}}`.
    init(_ told: JSON) throws(MalformedEvent) {
        guard case .array(let members)? = told["members"], case .object(let marks)? = told["marks"] else {
            throw MalformedEvent("readership must have members and marks")
        }
        self.init(
            members: members.compactMap { if case .string(let user) = $0 { user } else { nil } },
            marks: marks.compactMap { mark -> (key: String, value: Int64)? in
                if case .number(let seq) = mark.value { (mark.name, Int64(seq)) } else { nil }
            })
    }
}
