import Glibc

/// Reading files that contain a key.
package enum KeyFile {
    /// Maximum size of a file in bytes.
    static let maximumBytes = 1024 * 1024

    /// Returns the content of a file.
    ///
    /// - Throws: ``KeyError`` if it cannot be read or is too large.
    package static func read(_ path: String) throws(KeyError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw failure(path) }
            if count == 0 { return content }
            content += buffer[..<count]
            guard content.count <= maximumBytes else {
                throw KeyError(path, "the file has more than \(maximumBytes) bytes, so it is not a key.")
            }
        }
    }

    private static func failure(_ path: String) -> KeyError {
        KeyError(path, "it cannot be read: \(String(cString: strerror(errno))).")
    }
}
