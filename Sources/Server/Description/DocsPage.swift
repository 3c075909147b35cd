import DescriptionFiles
import HTTPTypes

/// The page at `/docs`: how to use sockets and event streams, their frames, and a list of the operations.
///
/// `Sources/Description/docs.html` is the page; the tables of frames and operations are made from the description. It
/// has no scripts and loads no resources.
enum DocsPage {
    static let content = StaticContent(Array(html.utf8), contentType: "text/html; charset=utf-8")

    private static var html: String {
        String(cString: description_docs)
            .replacing("{{server-frames}}", with: rows(of: Frame.ofServer))
            .replacing("{{client-frames}}", with: rows(of: Frame.ofClient))
            .replacing("{{operations}}", with: APIOperation.all.map(row).joined(separator: "\n"))
    }

    /// A frame of WebSockets and event streams, as the description's schema has it.
    struct Frame {
        let type: String
        /// Example frames, as sent.
        let examples: [String]
        let schema: JSONValue

        static let ofServer = frames(of: "ServerFrame")
        static let ofClient = frames(of: "ClientFrame")

        private static func frames(of direction: String) -> [Frame] {
            let schemas = APIDescription.source["components"]!["schemas"]!
            return schemas[direction]!["oneOf"]!.elements.map { reference in
                let name = reference["$ref"]!.string!.split(separator: "/").last!
                let schema = schemas[String(name)]!
                let examples = schema["examples"]!.elements.map { example in
                    var line: [UInt8] = []
                    example.writeLine(into: &line)
                    return String(decoding: line, as: UTF8.self)
                }
                return Frame(
                    type: schema["properties"]!["type"]!["const"]!.string!, examples: examples, schema: schema)
            }
        }
    }

    // MARK: Rows

    private static func rows(of frames: [Frame]) -> String {
        frames.map { frame in
            let examples = frame.examples.map { "<div><code>\(escaped($0))</code></div>" }.joined()
            let members = frame.schema["properties"]!.members.compactMap { name, schema in
                schema["description"]?.string.map { "<li><code>\(name)</code>: \(html($0))</li>" }
            }
            let list = members.isEmpty ? "" : "<ul>" + members.joined() + "</ul>"
            let text = html(frame.schema["description"]!.string!)
            return row("<b>\(frame.type)</b>", "\(examples)<p>\(text)</p>\(list)")
        }.joined(separator: "\n")
    }

    /// Converts Markdown with only code spans to HTML.
    private static func html(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }

    private static func row(of operation: APIOperation) -> String {
        let path = "<code>\(operation.route.method.rawValue) \(escaped(operation.route.path))</code>"
        return row(path, escaped(operation.value["summary"]!.string!))
    }

    private static func row(_ first: String, _ second: String) -> String {
        "<tr><td>\(first)</td><td>\(second)</td></tr>"
    }

    /// Escapes text for use between tags.
    static func escaped(_ text: String) -> String {
        text.map { $0 == "<" ? "&lt;" : $0 == "&" ? "&amp;" : String($0) }.joined()
    }
}
