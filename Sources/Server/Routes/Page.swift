import PageFiles

/// The web page: its files, embedded in the program.
///
/// They have no build step. Each is served as it stands in `Sources/Page`.
enum Page {
    struct File: Sendable {
        /// The name under which the others refer to it.
        let name: String
        /// The media type, with its character encoding.
        let contentType: String
        let bytes: [UInt8]
    }

    /// The document that the others belong to.
    static let index = all[0]

    /// The name of the service worker among the files.
    static let worker = "offline.js"

    /// The files that the document loads.
    static let files = all.dropFirst()

    private static let all: [File] = (0...).lazy.map { page_file($0) }.prefix { $0.name != nil }.map { file in
        let name = String(cString: file.name)
        return File(name: name, contentType: contentType(of: name), bytes: Array(String(cString: file.text).utf8))
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }
}
