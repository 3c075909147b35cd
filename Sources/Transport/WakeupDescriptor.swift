import CLibwebsockets
import Glibc

/// The descriptor that wakes a context of the library, which closes it twice when it destroys the context.
///
/// If another thread were given the number in between, its file (the database's, say) would be closed under it. So the
/// number is taken again after the first time, and what the second closes is ours.
struct WakeupDescriptor {
    private let number: Int32

    /// Finds the descriptor of the context that has just been made on this libuv loop: nothing else is polled there.
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

    /// Takes the number, to be closed by the library.
    ///
    /// - Returns: whether it was free.
    func take() -> Bool {
        let any = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard any >= 0, any != number else { return any == number }
        defer { close(any) }
        // The lowest free number that is not lower than this: never one that somebody has.
        let next = fcntl(any, F_DUPFD_CLOEXEC, number)
        if next >= 0, next != number { close(next) }
        return next == number
    }

    /// Returns whether there are descriptors enough for a context of the library, which would be left half made
    /// without.
    static func areLeft() -> Bool {
        let numbers = (0..<8).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for number in numbers where number >= 0 { close(number) }
        return !numbers.contains(-1)
    }
}
