import Glibc

/// Low descriptor numbers, held so that they are free to be taken at one moment.
///
/// libwebsockets closes the descriptor that wakes a context twice when it destroys the context. If another thread were
/// given the number in between, its file (the database's, say) would be closed under it. A new descriptor gets the
/// lowest number that is free (POSIX, 2.6), so numbers that are set free just before keep the others from that one.
struct DescriptorReserve: ~Copyable {
    /// More than what other threads open in the microseconds between the two.
    private static let size = 16
    /// What the library needs for a context, and a little more: without, it would be left half made.
    private static let needed = 8

    private let numbers: [Int32]

    /// Takes the numbers, before the library takes its own; nil when there are not enough for both.
    init?() {
        let numbers = (0..<Self.size + Self.needed).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        let isEnough = !numbers.contains(-1)
        for number in numbers[(isEnough ? Self.size : 0)...] where number >= 0 { close(number) }
        guard isEnough else { return nil }
        self.numbers = Array(numbers[..<Self.size])
    }

    deinit {
        for number in numbers { close(number) }
    }
}
