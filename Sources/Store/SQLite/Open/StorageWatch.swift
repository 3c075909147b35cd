import Glibc
import Synchronization

/// Checks that the database's files are still where they were when they were opened.
///
/// SQLite keeps writing to open files after they have been deleted or replaced. It would store messages that are lost
/// after a restart. So the writer checks the files before it commits, at most once per
/// ``StoreConfiguration/storageCheckInterval``, and also while nothing is sent. While a file is missing, nothing is
/// written or read, and requests get 503 `storage_lost`. When the same files are back, the server continues.
final class StorageWatch: Sendable {
    /// A file's device and inode. No other file gets the same inode while SQLite has the file open.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t

        /// The identity of the file now at a path; `nil` if there is none.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_nlink > 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let files: [(path: String, identity: Identity)]
    private let lossText = Mutex<String?>(nil)
    // Read for every batch of reads, without taking the lock of the text.
    private let isLostFlag = Atomic(false)

    /// Records the identity of the files of the open database at `location`: the database, its write-ahead log, and the
    /// -shm file.
    init(location: String) {
        files = ["", "-wal", "-shm"].compactMap { suffix in
            Identity(of: location + suffix).map { (location + suffix, $0) }
        }
    }

    /// True while a file is missing or replaced.
    var isLost: Bool { isLostFlag.load(ordering: .relaxed) }

    /// A description of the missing or replaced file for the operator; `nil` if all are in place.
    var loss: String? { lossText.withLock { $0 } }

    /// Checks the files now.
    func check() {
        var text: String?
        for (path, identity) in files {
            let now = Identity(of: path)
            if now == identity { continue }
            text = "\(path) has been \(now == nil ? "deleted or renamed" : "replaced by another file")"
            break
        }
        lossText.withLock { $0 = text }
        isLostFlag.store(text != nil, ordering: .relaxed)
    }
}
