import Glibc

/// Low descriptor numbers, held so that they are free to be taken at one moment.
///
/// libwebsockets closes the descriptor that wakes a context twice when it destroys the context. If another thread were
/// given the number in between, its file (the database's, say) would be closed under it. A new descriptor gets the
/// lowest number that is free (POSIX, 2.6), so numbers that are set free just before keep the others from that one.
struct DescriptorReserve: ~Copyable {
    /// More than what other threads open in the microseconds between the two.
    private static let size = 16

    private let numbers: [Int32]

    /// Takes the numbers, before the library takes its own.
    init() {
        numbers = (0..<Self.size).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    }

    deinit {
        for number in numbers where number >= 0 { close(number) }
    }
}
