import CLibwebsockets
import Glibc

/// The descriptor that wakes a context of the library: an eventfd.
///
/// Before version 4.3.4 the library closes it twice when it destroys the context. If another thread got the number between
/// the two, its file (for example the database) would be closed. The number is therefore taken again after the first close,
/// and the second close closes this replacement. Version 4.3.5 leaves it open.
struct WakeupDescriptor {
    private let number: Int32
    /// The line of the kernel's description with the number of the eventfd, which no other open one has (proc_pid_fdinfo(5)).
    private let identity: String?

    /// Finds the descriptor of the context that was just created on this libuv loop. The loop polls no other descriptor of
    /// this kind yet; from version 4.3 on, the library polls a netlink socket, too.
    init?(on uv: UnsafeMutablePointer<uv_loop_t>) {
        var number: Int32 = -1
        uv_walk(
            uv,
            { handle, number in
                // `number` is the variable above, which outlives the walk.
                let number = number!.assumingMemoryBound(to: Int32.self)
                var polled: Int32 = -1
                guard handle!.pointee.type == UV_POLL, uv_fileno(handle, &polled) == 0 else { return }
                if number.pointee < 0 || WakeupDescriptor.identity(of: polled) != nil { number.pointee = polled }
            }, &number)
        guard number >= 0 else { return nil }
        self.number = number
        identity = Self.identity(of: number)
    }

    /// Closes the descriptor if the library has left it open. Call it when the context is destroyed.
    func closeIfOpen() {
        guard let identity, Self.identity(of: number) == identity else { return }
        close(number)
    }

    private static func identity(of number: Int32) -> String? {
        let description = open("/proc/self/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
        guard description >= 0 else { return nil }
        defer { close(description) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(description, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("eventfd-id:") }.map(String.init)
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
        let numbers = (0..<12).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for number in numbers where number >= 0 { close(number) }
        return !numbers.contains(-1)
    }
}
