import HTTP
import HTTPTypes
import Wire

extension Response {
    /// A refusal in one line: the status, and a problem's code and detail (RFC 9457) or the start of the body.
    var refusalText: String {
        let phrase = status.reasonPhrase
        let status = phrase.isEmpty ? "\(status.code)" : "\(status.code) \(phrase)"
        if let problem = Self.problem(in: body) { return "\(status): \(problem)" }
        let start = String(decoding: body.prefix(200), as: UTF8.self)
        let line = start.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.isEmpty ? status : "\(status): \(line)"
    }

    private static func problem(in body: [UInt8]) -> String? {
        guard var scanner = try? JSONScanner(body), (try? scanner.enterObject()) != nil else { return nil }
        var code: String?
        var detail: String?
        while let name = try? scanner.nextName() {
            if (try? scanner.peek()) == .string, let value = try? scanner.readString() {
                if scanner.matches(name, "code") { code = scanner.string(value) }
                if scanner.matches(name, "detail") { detail = scanner.string(value) }
            } else if (try? scanner.skipValue()) == nil {
                break
            }
        }
        let parts = [code, detail].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
