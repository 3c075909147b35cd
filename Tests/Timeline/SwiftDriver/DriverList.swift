import BackscrollTimeline

/// A list's layout, and what tells where its reader is, as Tests/Timeline/driver.js has them.
struct DriverList {
    private typealias Layout = ListLayout<String>

    private var layout = Layout(height: 0, estimate: 0)
    private var reporter = ListReporter()

    /// Takes a change of the layout, and writes the layout's state.
    mutating func take(_ change: JSON, _ view: DriverTimeline.View, to writer: inout JSONWriter) throws(MalformedEvent)
    {
        if let start = change["start"] {
            layout = Layout(
                height: start.int("height") ?? 0, inset: start.int("inset") ?? 0, estimate: start.int("estimate") ?? 0,
                lineEstimate: start.int("lineEstimate"), slack: start.int("slack") ?? 0)
            reporter = ListReporter()
        }
        var share = 0.0
        if case .number(let number)? = change["share"] { share = number }
        if let difference = change["difference"] {
            layout.apply(
                removed: difference.list("removed").compactMap(\.text),
                moved: difference.list("moved").compactMap { move in
                    move["key"]?.text.map { ($0, move.int("index") ?? 0) }
                },
                inserted: difference.list("inserted").compactMap { placed in
                    placed["row"].flatMap(Self.row).map { ($0, placed.int("index") ?? 0) }
                },
                updated: difference.list("updated").compactMap(Self.row),
                isEnd: change["isEnd"] != .bool(false), scroll: change["follow"]?.text.map(Self.target), share: share)
        }
        let heights: [(id: String, height: Int)] = change.list("measure").compactMap { pair in
            guard case .array(let parts) = pair, let key = parts.first?.text, case .number(let height)? = parts.last
            else {
                return nil
            }
            return (key, Int(height))
        }
        if !heights.isEmpty { layout.measure(heights) }
        if let offset = change.int("scroll") { layout.scroll(toOffset: offset) }
        if let to = change["to"]?.text { layout.scroll(to: Self.target(to), share: share) }
        if let resize = change["resize"] {
            layout.resize(height: resize.int("height") ?? layout.height, inset: resize.int("inset") ?? layout.inset)
        }
        write(change, view, to: &writer)
    }

    private mutating func write(_ change: JSON, _ view: DriverTimeline.View, to writer: inout JSONWriter) {
        writer.raw(
            "{\"layout\":{\"count\":\(layout.count),\"height\":\(layout.contentHeight),\"offset\":\(layout.offset)")
        writer.raw(",\"anchor\":")
        switch layout.anchor {
        case nil: writer.raw("null")
        case .bottom: writer.write("bottom")
        case .row(let key, let distance): writer.write("\(key) \(distance)")
        }
        writer.raw(",\"at_bottom\":\(layout.isAtBottom),\"last_visible\":")
        writer.optional(layout.lastVisible) { $0.write($1) }
        let range = layout.range(margin: change.int("margin") ?? 0)
        writer.raw(",\"range\":[\(range.lowerBound),\(range.upperBound)],\"frames\":")
        writer.list(change.list("frames").compactMap(\.text)) { writer, key in
            guard let frame = layout.frame(of: key) else { return writer.raw("null") }
            writer.raw("[\(frame.index),\(frame.top),\(frame.height),\(frame.isMeasured),")
            writer.optional(layout.id(at: frame.index)) { $0.write($1) }
            writer.raw("]")
        }
        func state(_ edge: String) -> DriverTimeline.EdgeState {
            change["edges"]?[edge]?.text.flatMap { .init(rawValue: $0) } ?? .end
        }
        writer.raw(",\"events\":")
        writer.list(reporter.events(layout, before: state("before"), after: state("after"))) { writer, event in
            switch event as DriverTimeline.Event {
            case .viewport(let atBottom, let lastVisible):
                writer.write("viewport \(atBottom) \(lastVisible.map { "\($0)" } ?? "null")")
            case .near(.before): writer.write("near before")
            default: writer.write("near after")
            }
        }
        writer.raw(",\"groups\":")
        let rows = change["groups"] == .bool(true) ? view.rows.indices : 0..<0
        writer.list(Array(rows)) { writer, index in
            let place = view.groupPlace(at: index)
            writer.write((place.isFirst ? "first" : "") + (place.isLast ? "last" : ""))
        }
        writer.raw("}}")
    }

    private static func row(_ json: JSON) -> Layout.Row? {
        json["key"]?.text.map { .init(id: $0, seq: json.int("seq").map { Int64($0) }, isLine: json["state"] == nil) }
    }

    private static func target(_ text: String) -> Layout.Target {
        text == "bottom" ? .bottom : .row(text)
    }
}

extension JSON {
    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    fileprivate func int(_ name: String) -> Int? {
        if case .number(let number)? = self[name] { Int(number) } else { nil }
    }

    fileprivate func list(_ name: String) -> [JSON] {
        if case .array(let elements)? = self[name] { elements } else { [] }
    }
}
