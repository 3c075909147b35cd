import Chat
import Wire

/// The JavaScript package for apps: the modules that the web page runs, and an archive of them for npm.
///
/// The modules have no comments there, which are a third of them. Apps get the comments with the types.
enum PackageContent {
    /// The folder of the modules, and the name of the archive without its extension.
    static let name = "backscroll-\(Version.current)"

    /// The module that apps import without naming a version. It is revalidated each time.
    static let entry = StaticContent(
        Array("export * from \"./\(name)/index.js\";\n".utf8), contentType: Page.contentType(of: "backscroll.js"))

    /// The files by name, such as `index.js` and `types/index.d.ts`. They never change under their path.
    static let files: [String: StaticContent] =
        Dictionary(
            uniqueKeysWithValues: Page.packageFiles.map { file in
                let name = String(file.name.dropFirst(Page.packageFolder.count))
                return (name, StaticContent(file.bytes, contentType: file.contentType))
            })

    /// The archive, as `npm pack` makes it: the files in a folder `package`.
    static let archive = StaticContent(
        compressedTape(files.sorted { $0.key < $1.key }.map { (name: "package/\($0.key)", bytes: $0.value.bytes) }),
        contentType: StaticContent.archive)

    /// Returns a compressed archive in the format of tar (POSIX.1-1988, `ustar`).
    private static func compressedTape(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        let block = 512
        var tape: [UInt8] = []
        for file in files {
            var header = [UInt8](repeating: 0, count: block)
            func put(_ text: String, at offset: Int) {
                header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
            }
            func octal(_ number: Int, digits: Int) -> String {
                let text = String(number, radix: 8)
                return String(repeating: "0", count: digits - text.count) + text
            }
            put(file.name, at: 0)
            put(octal(0o644, digits: 7), at: 100)
            put(octal(0, digits: 7), at: 108)
            put(octal(0, digits: 7), at: 116)
            put(octal(file.bytes.count, digits: 11), at: 124)
            // The time that npm gives all files, so that the archive is the same each time.
            put(octal(499_162_500, digits: 11), at: 136)
            put("0", at: 156)
            put("ustar\u{0}00", at: 257)
            // The checksum is computed with spaces in its place.
            put("        ", at: 148)
            put(octal(header.reduce(0) { $0 + Int($1) }, digits: 6) + "\u{0} ", at: 148)
            tape += header
            tape += file.bytes
            tape += [UInt8](repeating: 0, count: (block - file.bytes.count % block) % block)
        }
        return gzip(tape + [UInt8](repeating: 0, count: 2 * block))
    }
}

/// The JavaScript package.
enum PackageRoutes {
    /// `GET /backscroll.js`.
    static func entry(_ request: RoutedRequest) throws(Problem) {
        request.answerStatic(PackageContent.entry)
    }

    /// `GET /backscroll-VERSION.tgz`.
    static func archive(_ request: RoutedRequest) throws(Problem) {
        request.answerStatic(PackageContent.archive, isImmutable: true)
    }

    /// `GET /backscroll-VERSION/{name}`.
    ///
    /// - Throws: 404 when there is no such file.
    static func file(_ request: RoutedRequest) throws(Problem) {
        try answer(request, with: request.name)
    }

    /// `GET /backscroll-VERSION/types/{name}`.
    ///
    /// - Throws: 404 when there is no such file.
    static func types(_ request: RoutedRequest) throws(Problem) {
        try answer(request, with: "types/" + request.name)
    }

    private static func answer(_ request: RoutedRequest, with name: String) throws(Problem) {
        guard let file = PackageContent.files[name] else { throw .notFound }
        request.answerStatic(file, isImmutable: true)
    }
}
