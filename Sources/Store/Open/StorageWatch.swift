import Glibc
import Synchronization
import Wire

/// Looks whether the database's files are still where they were when they were opened.
///
/// SQLite writes to open files, and goes on doing so when their names are gone or are those of other files by now: it
/// would store messages that nobody finds after a restart. So the writer looks before it commits, at most once a second
/// (``StoreConfiguration/storageLookInterval``), and also while nothing is sent. While a file is not there, nothing is
/// written and nothing is read; both are 503 `storage_lost`. When the same files are back in their places, as after
/// `mv` there and back, everything goes on.
final class StorageWatch: Sendable {
    /// A file's device and inode. No other file gets the inode while SQLite has the file open.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t

        /// The identity of what is at a path now; `nil` when nothing is.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_nlink > 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let files: [(path: String, identity: Identity)]
    private let lossText = Mutex<String?>(nil)
    // Read by every round of reads; the text is only read when it is set.
    private let isLostFlag = Atomic(false)

    /// Remembers the files of the database at `location`, which is open: the database, its write-ahead log and the log's
    /// index.
    init(location: String) {
        files = ["", "-wal", "-shm"].compactMap { suffix in
            Identity(of: location + suffix).map { (location + suffix, $0) }
        }
    }

    /// True while a file is gone or replaced.
    var isLost: Bool { isLostFlag.load(ordering: .relaxed) }

    /// Says which file is gone or replaced, for the operator; `nil` when none is.
    var loss: String? { lossText.withLock { $0 } }

    /// Looks now.
    func look() {
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
