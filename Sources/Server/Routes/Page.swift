import PageFiles

/// The web page: its files, embedded in the program.
///
/// They have no build step. Each is served as it stands in `Sources/Page`, but for comments, types, indentation, and line breaks
/// and spaces that nothing needs.
enum Page {
    struct File: Sendable {
        /// The name under which the others refer to it.
        let name: String
        /// The media type, with its character encoding.
        let contentType: String
        let bytes: [UInt8]
    }

    /// The document that the others belong to.
    static let index = File(name: all[0].name, contentType: all[0].contentType, bytes: compact(all[0].bytes))

    /// The name of the service worker among the files.
    static let worker = "offline.js"

    /// The folder of the JavaScript package, whose modules the page runs.
    static let packageFolder = "client/"

    /// The modules of the package that the page does not run.
    private static let unused: Set = [
        "client/list.js", "client/react.js", "client/server.js", "client/server-api.js",
        "client/timeline-all.js", "client/timeline-difference.js", "client/types.js",
    ]

    /// The files that the document loads.
    static let files = all.dropFirst().filter {
        if $0.name.hasPrefix(packageFolder) { return $0.name.hasSuffix(".js") && !unused.contains($0.name) }
        return !isPicture($0.name)
    }.map { file in
        let isCode = [".js", ".css", ".webmanifest"].contains { file.name.hasSuffix($0) }
        guard isCode else { return file }
        let code = joined(compact(file.bytes))
        let bytes = file.name.hasSuffix(".css") ? withoutSpaces(code) : code
        return File(name: file.name, contentType: file.contentType, bytes: bytes)
    }

    /// The icons of the installed page, which only an installation loads.
    static let icons = all.filter { isPicture($0.name) }

    private static func isPicture(_ name: String) -> Bool { name.hasSuffix(".png") }

    /// The files of the JavaScript package.
    static let packageFiles = all.filter { $0.name.hasPrefix(packageFolder) }

    private static let all: [File] = (0...).lazy.map { page_file($0) }.prefix { $0.name != nil }.map { file in
        let name = String(cString: file.name)
        let count = file.size > 0 ? Int(file.size) : String(cString: file.text).utf8.count
        // The program's own memory, which stays.
        let bytes = Array(UnsafeRawBufferPointer(start: file.text, count: count))
        let isModule = name.hasSuffix(".js")
        return File(name: name, contentType: contentType(of: name), bytes: isModule ? withoutComments(bytes) : bytes)
    }

    /// Returns the media type of a file.
    static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": StaticContent.picture
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "md", "LICENSE": "text/plain; charset=utf-8"
        default: "text/javascript; charset=utf-8"
        }
    }

    /// Leaves out comments of scripts and styles, types, indentation and empty lines.
    static func compact(_ code: [UInt8]) -> [UInt8] {
        let lines = String(decoding: withoutComments(code), as: UTF8.self).split(separator: "\n").map { line in
            line.contains("/** @") ? line.replacing(#/\/\*\* @\w+ [^*]*\*\/ ?/#, with: "") : line
        }
        return Array(lines.lazy.filter { !$0.isEmpty }.joined(separator: "\n").utf8)
    }

    /// Leaves out line breaks of scripts and styles where an expression, statement or block goes on. A line with `//` stays one.
    static func joined(_ code: [UInt8]) -> [UInt8] {
        var text = ""
        for line in String(decoding: code, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            text += line
            if !"{(;,".contains(line.last ?? "}") || line.contains("//") { text += "\n" }
        }
        return Array(text.utf8.dropLast(text.hasSuffix("\n") ? 1 : 0))
    }

    /// Leaves out the spaces of a style sheet beside braces, commas, semicolons and `>`, those after colons, and the semicolons at the
    /// ends of blocks. Its strings must have none of these.
    static func withoutSpaces(_ style: [UInt8]) -> [UInt8] {
        let marks = "{},;>".utf8
        var kept: [UInt8] = []
        for byte in style {
            if byte == UInt8(ascii: " "), let last = kept.last, marks.contains(last) || last == UInt8(ascii: ":") {
                continue
            }
            if marks.contains(byte), kept.last == UInt8(ascii: " ") { kept.removeLast() }
            if byte == UInt8(ascii: "}"), kept.last == UInt8(ascii: ";") { kept.removeLast() }
            kept.append(byte)
        }
        return kept
    }

    /// Leaves out the lines that are comments only, the empty lines after them, and the indentation: a template literal must not go on
    /// in the next line.
    static func withoutComments(_ module: [UInt8]) -> [UInt8] {
        var isInComment = false
        var kept: [Substring] = []
        for line in String(decoding: module, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            let ends = text.hasSuffix("*/")
            if isInComment {
                isInComment = !ends
                continue
            }
            if text.hasPrefix("//") { continue }
            if text.hasPrefix("/*"), ends || !text.contains("*/") {
                isInComment = !ends
                continue
            }
            if text.isEmpty, kept.last?.isEmpty ?? true { continue }
            kept.append(text)
        }
        return Array(kept.joined(separator: "\n").utf8)
    }
}
