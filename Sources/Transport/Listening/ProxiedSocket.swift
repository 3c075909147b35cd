import CLibwebsockets
import Glibc

/// An accepted socket whose PROXY header is read before the library gets it, because TLS begins after the header.
///
/// Use it on its loop's thread only. It ends by calling `then` once, or with ``cancel()``.
final class ProxiedSocket {
    /// The result of reading a header: the source that it names, or the reason for its failure.
    enum Result {
        case source(IPAddress?)
        case failed(String)
    }

    private let socket: Int32
    private let then: (Result) -> Void
    private var header = ProxyHeader()
    private var isDone = false
    // Handles of libuv. They exist while the rest of the header is awaited, and are freed after libuv has released
    // them.
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    private var timer: UnsafeMutablePointer<uv_timer_t>?

    /// - Parameter then: owns the socket from its call on.
    init(_ socket: Int32, then: @escaping (Result) -> Void) {
        self.socket = socket
        self.then = then
    }

    /// Reads the available bytes, and waits for the rest until the deadline. Usually the header arrives with the
    /// connection.
    func begin(on uv: UnsafeMutablePointer<uv_loop_t>, deadline: Duration) {
        read()
        guard !isDone else { return }
        let (poll, timer) = (
            UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1),
            UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        )
        guard uv_poll_init_socket(uv, poll, socket) == 0 else {
            poll.deallocate()
            timer.deallocate()
            return finish(.failed("the loop does not take the socket"))
        }
        uv_timer_init(uv, timer)
        let this = Unmanaged.passUnretained(self).toOpaque()
        poll.pointee.data = this
        timer.pointee.data = this
        (self.poll, self.timer) = (poll, timer)
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            ProxiedSocket.from(handle!.pointee.data).read()
        }
        uv_timer_start(
            timer,
            { ProxiedSocket.from($0!.pointee.data).finish(.failed("it did not arrive in time")) },
            UInt64(max(1, deadline.roundedMilliseconds)), 0)
    }

    // The pointer is the object's own, set above. Its listener holds it until `finish` or `cancel`, after which libuv
    // makes no calls.
    private static func from(_ data: UnsafeMutableRawPointer) -> ProxiedSocket {
        Unmanaged<ProxiedSocket>.fromOpaque(data).takeUnretainedValue()
    }

    /// Reads the available part of the header and no byte more: later bytes are only peeked at.
    private func read() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer in
            while !isDone {
                let seen = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK | MSG_DONTWAIT))
                guard seen > 0 else {
                    if seen < 0, errno == EINTR { continue }
                    if seen < 0, errno == EAGAIN { return }
                    return finish(.failed("the connection ended before it"))
                }
                // recv has initialized the first `seen` bytes of the buffer, which outlives the span.
                let taken = header.take(Span(_unsafeStart: UnsafePointer(buffer.baseAddress!), count: seen))
                recv(socket, buffer.baseAddress, taken, Int32(MSG_DONTWAIT))
                switch header.outcome {
                case .needMoreBytes: continue
                case .source(let source): return finish(.source(source))
                case .malformed(let reason): return finish(.failed(reason))
                }
            }
        }
    }

    private func finish(_ result: Result) {
        guard release() else { return }
        then(result)
    }

    /// Stops reading and closes the socket.
    func cancel() {
        guard release() else { return }
        Glibc.close(socket)
    }

    /// Releases the handles of libuv, so that the socket can be passed on.
    private func release() -> Bool {
        guard !isDone else { return false }
        isDone = true
        if let poll {
            uv_poll_stop(poll)
            closeAndFree(poll)
        }
        if let timer {
            uv_timer_stop(timer)
            closeAndFree(timer)
        }
        return true
    }
}
