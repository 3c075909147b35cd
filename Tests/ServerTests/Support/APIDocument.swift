import HTTP
import HTTPTypes

/// The description that a server gives of itself, as a client reads it.
struct APIDocument {
    let json: JSON
    let schemas: JSONSchema
    let operations: [Operation]

    /// One method on one path.
    struct Operation {
        var id: String
        var method: HTTPRequest.Method
        var path: String
        /// Those of the path and its own, references resolved.
        var parameters: [JSON]
        var body: JSON?
        /// References resolved.
        var answers: [Int: JSON]
        var json: JSON

        /// The path with the examples of its parameters.
        var target: String {
            parameters.reduce(path) { path, parameter in
                guard parameter["in"] == .string("path"), let name = parameter["name"]?.string else { return path }
                let value = parameter["example"].map { $0.string ?? $0.text } ?? ""
                return path.replacing("{\(name)}", with: Self.escaped(value))
            }
        }

        /// Percent-encoded whatever it is (RFC 3986, section 2.1).
        static func escaped(_ text: String) -> String {
            text.utf8.map { byte in
                (byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter) || Character(Unicode.Scalar(byte)).isNumber
                    ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }

    init(of server: LiveServer) throws {
        json = try JSON(HTTPClient(port: server.port).get("/openapi.json").body)
        schemas = JSONSchema(document: json)
        var operations: [Operation] = []
        for (path, item) in json["paths"]?.object ?? [:] {
            for (method, operation) in item.object ?? [:] where method != "parameters" {
                let parameters = (item["parameters"]?.array ?? []) + (operation["parameters"]?.array ?? [])
                var answers: [Int: JSON] = [:]
                for (status, answer) in operation["responses"]?.object ?? [:] {
                    answers[Int(status)!] = try schemas.dereference(answer)
                }
                operations.append(
                    Operation(
                        id: operation["operationId"]?.string ?? "", method: .init(method.uppercased())!, path: path,
                        parameters: try parameters.map(schemas.dereference), body: operation["requestBody"],
                        answers: answers, json: operation))
            }
        }
        self.operations = operations.sorted { $0.id < $1.id }
    }

    subscript(_ id: String) -> Operation {
        operations.first { $0.id == id }!
    }

    // MARK: Answers

    /// What any answer may have without its description saying so.
    private static let usual: Set<String> = [
        "date", "connection", "content-length", "content-type", "cache-control", "content-security-policy", "vary",
        "x-content-type-options", "content-encoding",
    ]

    /// What in an answer is not as described.
    func faults(of response: Response, to operation: Operation) throws -> [String] {
        guard let answer = operation.answers[response.status.code] else {
            return ["\(response.status.code) is not described"]
        }
        var faults: [String] = []
        let headers = answer["headers"]?.object ?? [:]
        for (name, reference) in headers {
            let header = try schemas.dereference(reference)
            if let value = response[name] {
                faults += try schemas.faults(of: .string(value), by: header["schema"] ?? .null, at: name)
            } else if header["required"] == .boolean(true) {
                faults.append("\(name) is missing")
            }
        }
        let described = Set(headers.keys.map { $0.lowercased() }).union(Self.usual)
        for field in response.fields where !described.contains(field.name.canonicalName) {
            faults.append("\(field.name) is not described")
        }
        guard let content = answer["content"]?.object else {
            return response.body.isEmpty ? faults : faults + ["there is content"]
        }
        let mediaType = response["Content-Type"].map { $0.prefix { $0 != ";" } }.map(String.init) ?? ""
        guard let schema = content[mediaType]?["schema"] else { return faults + ["\(mediaType) is not described"] }
        let value = mediaType.hasSuffix("json") ? try JSON(response.body) : .string(response.text)
        return faults + (try schemas.faults(of: value, by: schema))
    }
}
