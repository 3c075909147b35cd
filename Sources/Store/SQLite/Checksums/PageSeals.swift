import Glibc
import SQLiteChecksums

/// The addition of missing checksums to the pages of a file that nobody has open.
///
/// `VACUUM INTO` writes pages of a large copy before the first page says that they have checksums, and a program other than
/// Backscroll writes pages without.
enum PageSeals {
    /// The pages of a file.
    struct Result {
        /// The number of pages.
        var pages = 0
        /// The number of pages that have got a checksum.
        var added = 0
    }

    /// Gives a checksum to each page that has none. Pages with a wrong one stay as they are. Does not sync the file.
    ///
    /// This process must not have the file open: closing it releases all its locks.
    ///
    /// - Throws: An `Errno`.
    static func add(to path: String) throws(Errno) -> Result {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Errno() }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: FileHeader.bytes)
        guard pread(file, &bytes, bytes.count, 0) == bytes.count, let header = FileHeader(bytes),
            header.reservedBytes == CHECKSUM_BYTES
        else { throw Errno(number: EINVAL) }
        var result = Result()
        let size = header.pageSize
        var page = [UInt8](repeating: 0, count: size)
        var offset = 0
        while true {
            let count = pread(file, &page, size, offset)
            if count == 0 { return result }
            guard count == size else { throw count < 0 ? Errno() : Errno(number: EIO) }
            if backscroll_page_state(page, Int32(size)) == PAGE_WITHOUT_CHECKSUM {
                backscroll_seal_page(&page, Int32(size))
                guard pwrite(file, page, size, offset) == size else { throw Errno() }
                result.added += 1
            }
            result.pages += 1
            offset += size
        }
    }
}
