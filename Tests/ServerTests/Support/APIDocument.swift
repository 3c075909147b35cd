import HTTP
import HTTPTypes

/// A server's own API description.
struct APIDocument {
    let json: JSON
    /// The description as answered.
    let bytes: [UInt8]
    let operations: [Operation]

    /// One method on one path.
    struct Operation {
        var id: String
        var method: HTTPRequest.Method
        var path: String
        /// The parameters of the path and of the operation, with references resolved.
        var parameters: [JSON]
        var body: JSON?
        /// The answers by status, with references resolved.
        var answers: [Int: JSON]
        var json: JSON

        /// The path with the examples of its parameters, and of the query's required ones.
        var target: String {
            parameters.reduce(path) { path, parameter in
                guard let name = parameter["name"]?.string else { return path }
                let value = Self.escaped(parameter["example"].map { $0.string ?? $0.text } ?? "")
                if parameter["in"] == .string("path") { return path.replacing("{\(name)}", with: value) }
                let isNeeded = parameter["in"] == .string("query") && parameter["required"] == .boolean(true)
                return isNeeded && !value.isEmpty ? "\(path)?\(name)=\(value)" : path
            }
        }

        /// Percent-encodes every byte (RFC 3986, section 2.1).
        static func escaped(_ text: String) -> String {
            text.utf8.map { byte in
                (byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter) || Character(Unicode.Scalar(byte)).isNumber
                    ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }

    init(of server: LiveServer) throws {
        bytes = try HTTPClient(port: server.port).get("/openapi.json").body
        let json = try JSON(bytes)
        self.json = json
        var operations: [Operation] = []
        for (path, item) in json["paths"]?.object ?? [:] {
            for (method, operation) in item.object ?? [:] where method != "parameters" {
                let parameters = (item["parameters"]?.array ?? []) + (operation["parameters"]?.array ?? [])
                var answers: [Int: JSON] = [:]
                for (status, answer) in operation["responses"]?.object ?? [:] {
                    answers[Int(status)!] = try json.dereference(answer)
                }
                operations.append(
                    Operation(
                        id: operation["operationId"]?.string ?? "", method: .init(method.uppercased())!, path: path,
                        parameters: try parameters.map(json.dereference), body: operation["requestBody"],
                        answers: answers, json: operation))
            }
        }
        self.operations = operations.sorted { $0.id < $1.id }
    }

    subscript(_ id: String) -> Operation {
        operations.first { $0.id == id }!
    }

    /// Returns the value at a place that ``JSON/places`` lists.
    func value(at place: String) -> JSON? {
        // Paths of the API contain slashes, so the place is searched for instead of walked to.
        json.places.first { $0.place == place }?.value
    }

    // MARK: Answers

    /// Headers that any answer may have without a description.
    private static let usual: Set<String> = [
        "date", "connection", "content-length", "content-type", "cache-control", "content-security-policy", "vary",
        "x-content-type-options", "content-encoding",
    ]

    /// Returns the differences between an answer and its description, except for the body and the headers' values,
    /// which `scripts/validate` checks.
    func faults(of response: Response, to operation: Operation) throws -> [String] {
        guard let answer = operation.answers[response.status.code] else {
            return ["\(response.status.code) is not described"]
        }
        var faults: [String] = []
        let headers = answer["headers"]?.object ?? [:]
        for (name, reference) in headers where response[name] == nil {
            if try json.dereference(reference)["required"] == .boolean(true) { faults.append("\(name) is missing") }
        }
        let described = Set(headers.keys.map { $0.lowercased() }).union(Self.usual)
        for field in response.fields where !described.contains(field.name.canonicalName) {
            faults.append("\(field.name) is not described")
        }
        guard let content = answer["content"]?.object else {
            return response.body.isEmpty ? faults : faults + ["there is content"]
        }
        guard content[response.mediaType] != nil else { return faults + ["\(response.mediaType) is not described"] }
        if response.mediaType == "application/problem+json" {
            let code = try JSON(response.body)["code"]
            if answer["x-codes"]?.array?.contains(code ?? .null) != true { faults.append("the code is not described") }
        }
        return faults
    }

    /// Returns an answer as a line of JSON for `scripts/validate`: its values with the schemas that they must fit.
    func line(for response: Response, to operation: Operation) throws -> String {
        let answer = operation.answers[response.status.code] ?? .null
        var values: [String] = []
        for (name, reference) in answer["headers"]?.object ?? [:] {
            guard let value = response[name], let schema = try json.dereference(reference)["schema"] else { continue }
            values.append(#"{"schema":\#(schema.text),"value":\#(JSON.string(value).text)}"#)
        }
        if let schema = answer["content"]?[response.mediaType]?["schema"] {
            let value = response.mediaType.hasSuffix("json") ? response.text : JSON.string(response.text).text
            values.append(#"{"schema":\#(schema.text),"value":\#(value.replacing("\n", with: " "))}"#)
        }
        let name = JSON.string("\(operation.id) \(response.status.code)").text
        return #"{"name":\#(name),"values":[\#(values.joined(separator: ","))]}"#
    }
}

extension JSON {
    /// A reference without a target.
    struct Unresolved: Error {
        let reference: String
    }

    /// Returns the value that a JSON Pointer refers to in this document (RFC 6901, without escapes).
    func resolve(_ reference: JSON) throws -> JSON {
        guard let text = reference.string, text.hasPrefix("#/") else { throw Unresolved(reference: reference.text) }
        return try text.dropFirst(2).split(separator: "/").reduce(self) { value, step in
            guard let next = value[String(step)] else { throw Unresolved(reference: text) }
            return next
        }
    }

    /// Returns the value, or the value in this document that it refers to.
    func dereference(_ value: JSON) throws -> JSON {
        guard let reference = value["$ref"] else { return value }
        return try resolve(reference)
    }
}

extension Response {
    /// The media type without parameters; empty if there is none.
    fileprivate var mediaType: String {
        self["Content-Type"].map { String($0.prefix { $0 != ";" }) } ?? ""
    }
}
