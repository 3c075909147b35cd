import CLibwebsockets
import Glibc

/// The descriptor that wakes a context of the library. The library closes it twice when it destroys the context.
///
/// If another thread got the number between the two, its file (for example the database) would be closed. The number is
/// therefore taken again after the first close, and the second close closes this replacement.
struct WakeupDescriptor {
    private let number: Int32

    /// Finds the descriptor of the context that was just created on this libuv loop, which polls no other descriptor
    /// yet.
    init?(on uv: UnsafeMutablePointer<uv_loop_t>) {
        var number: Int32 = -1
        uv_walk(
            uv,
            { handle, number in
                guard handle!.pointee.type == UV_POLL else { return }
                // `number` is the variable above, which outlives the walk.
                uv_fileno(handle, number!.assumingMemoryBound(to: Int32.self))
            }, &number)
        guard number >= 0 else { return nil }
        self.number = number
    }

    /// Takes the number, for the library to close.
    ///
    /// - Returns: true if it was free.
    func take() -> Bool {
        let any = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard any >= 0, any != number else { return any == number }
        defer { close(any) }
        // F_DUPFD returns the lowest free number from this one on, so never one in use.
        let next = fcntl(any, F_DUPFD_CLOEXEC, number)
        if next >= 0, next != number { close(next) }
        return next == number
    }

    /// Returns true if there are enough descriptors for a context of the library. With too few it would be left partly
    /// created.
    static func areLeft() -> Bool {
        let numbers = (0..<8).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for number in numbers where number >= 0 { close(number) }
        return !numbers.contains(-1)
    }
}
