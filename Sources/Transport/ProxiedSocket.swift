import CLibwebsockets
import Glibc

/// An accepted socket whose PROXY header is being read, before the library gets it: TLS begins behind the header.
///
/// On its loop's thread only. It ends by calling `then` once, or with ``cancel()``.
final class ProxiedSocket {
    /// Reads how a header ended: the source that it names, or why there is none.
    enum Result {
        case source(IPAddress?)
        case failed(String)
    }

    private let socket: Int32
    private let then: (ProxiedSocket, Int32, Result) -> Void
    private var header = ProxyHeader()
    private var isDone = false
    // libuv's structures: there while the rest of the header is awaited; freed when libuv has let go of them.
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    private var timer: UnsafeMutablePointer<uv_timer_t>?

    /// - Parameter then: takes the socket, which is its own from then on.
    init(_ socket: Int32, then: @escaping (ProxiedSocket, Int32, Result) -> Void) {
        self.socket = socket
        self.then = then
    }

    /// Reads what is there, and waits for the rest for so long. Usually the header has come with the connection.
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

    // The pointer is the object's own, set above; its listener holds it until `finish` or `cancel`, after which libuv
    // calls no more.
    private static func from(_ data: UnsafeMutableRawPointer) -> ProxiedSocket {
        Unmanaged<ProxiedSocket>.fromOpaque(data).takeUnretainedValue()
    }

    /// Reads as much of the header as there is, and not a byte more: what follows is looked at, and left in the socket.
    private func read() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer in
            while !isDone {
                let seen = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK | MSG_DONTWAIT))
                guard seen > 0 else {
                    if seen < 0, errno == EINTR { continue }
                    if seen < 0, errno == EAGAIN { return }
                    return finish(.failed("the connection ended before it"))
                }
                // recv has written the first `seen` bytes of the buffer, which outlives the span.
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
        then(self, socket, result)
    }

    /// Gives up, and closes the socket.
    func cancel() {
        guard release() else { return }
        Glibc.close(socket)
    }

    /// Lets go of the loop, so that the socket can be given to somebody else.
    private func release() -> Bool {
        guard !isDone else { return false }
        isDone = true
        if let poll {
            uv_poll_stop(poll)
            uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
                UnsafeMutableRawPointer(handle!).deallocate()
            }
        }
        if let timer {
            uv_timer_stop(timer)
            uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) { handle in
                UnsafeMutableRawPointer(handle!).deallocate()
            }
        }
        return true
    }
}
