import Glibc

/// The reason why a ``TestClient`` failed.
public enum TestClientError: Error, Equatable {
    /// The connection was not accepted.
    case refused
    /// The TLS handshake failed, for OpenSSL's reason.
    case handshake(String)
    /// The server reset the connection, perhaps with bytes in flight.
    case reset
    /// The server closed its side before the expected bytes came.
    case ended(after: String)
    /// Nothing could be received or sent within the time limit.
    case timedOut
    /// A system call failed.
    case system(String, Int32)
}

/// A client on a blocking socket, plain or with TLS, for tests. It waits for expected bytes, or throws.
public final class TestClient {
    /// The time limit of a wait in seconds, long enough that only missing bytes reach it.
    public static let patience = 60

    private var descriptor: Int32
    private var tls: TLSSession?

    /// Creates a client that is not connected yet, see ``connect(to:host:)``.
    ///
    /// - Parameters:
    ///   - isIPv6: True to connect to IPv6 addresses.
    ///   - receiveBuffer: The kernel's receive buffer in bytes; `nil` for the default.
    public init(isIPv6: Bool = false, receiveBuffer: Int32? = nil) throws {
        // Writing to a closed server must fail with an error, not a signal.
        signal(SIGPIPE, SIG_IGN)
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestClientError.system("socket", errno) }
        var guardTime = timeval(tv_sec: Self.patience, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &guardTime, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &guardTime, size)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Creates a connected client.
    ///
    /// - Parameters:
    ///   - preface: Bytes to send before TLS begins.
    ///   - tls: The TLS options; `nil` for plain TCP.
    public convenience init(
        port: Int, host: String = "127.0.0.1", preface: [UInt8] = [], tls options: TLSOptions? = nil,
        receiveBuffer: Int32? = nil
    ) throws {
        try self.init(isIPv6: host.contains(":"), receiveBuffer: receiveBuffer)
        try connect(to: port, host: host)
        try send(preface)
        if let options { tls = try TLSSession(descriptor: descriptor, options: options) }
    }

    deinit {
        close()
    }

    /// Connects to a port of this machine, or of another by its address.
    public func connect(to port: Int, host: String = "127.0.0.1") throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else {
            throw TestClientError.system("getaddrinfo", 0)
        }
        defer { freeaddrinfo(found) }
        if Glibc.connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 { return }
        // An interrupted call goes on in the background.
        if errno == EINTR { errno = resultOfConnecting() }
        guard errno == 0 else {
            throw errno == ECONNREFUSED ? TestClientError.refused : TestClientError.system("connect", errno)
        }
    }

    /// Waits until a call to connect that was interrupted has ended, and returns its error number.
    private func resultOfConnecting() -> Int32 {
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&event, 1, -1) < 0, errno == EINTR {}
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 ? number : errno
    }

    // MARK: Sending

    /// Sends all of `bytes`.
    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count { sent += try sendSome(bytes[sent...]) }
    }

    /// Sends text.
    public func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    private func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        if let tls { return try tls.write(bytes) }
        let count = bytes.withUnsafeBytes { bytes in
            uninterrupted { Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
        guard count > 0 else { throw Self.error("send") }
        return count
    }

    /// Closes the sending side. Answers can still be read.
    public func finishSending() {
        tls?.sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Receiving

    /// Returns the next bytes; none once the server has closed its side.
    public func receiveSome(atMost count: Int = 64 * 1024) throws -> [UInt8] {
        if let tls { return try tls.read(atMost: count) }
        var buffer = [UInt8](repeating: 0, count: count)
        let received = uninterrupted { recv(descriptor, &buffer, count, 0) }
        guard received >= 0 else { throw Self.error("recv") }
        return Array(buffer[..<received])
    }

    /// Waits for bytes or for the end of the server's side, at most this long.
    ///
    /// - Returns: True if something has arrived. Bytes that TLS has already decrypted are not noticed.
    public func waitForBytes(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Receives bytes until `isEnough` holds for all of them together.
    public func receive(until isEnough: ([UInt8]) -> Bool) throws -> [UInt8] {
        var received: [UInt8] = []
        while !isEnough(received) {
            let some = try receiveSome()
            guard !some.isEmpty else {
                throw TestClientError.ended(after: String(decoding: received.suffix(1000), as: UTF8.self))
            }
            received += some
        }
        return received
    }

    /// Receives as much text as `text`, for comparison.
    public func receive(asLongAs text: String) throws -> String {
        let count = text.utf8.count
        return String(decoding: try receive { $0.count >= count }, as: UTF8.self)
    }

    /// Receives everything until the server closes its side.
    public func receiveToEnd() throws -> [UInt8] {
        var received: [UInt8] = []
        while true {
            let some = try receiveSome()
            if some.isEmpty { return received }
            received += some
        }
    }

    /// Waits until the server has closed the connection, in order or not.
    public func waitForEnd() throws {
        do {
            _ = try receiveToEnd()
        } catch TestClientError.reset {}
    }

    // MARK: The rest

    /// The ticket for a later connection; `nil` without TLS.
    public var ticket: TLSTicket? { tls?.ticket }

    /// The result of the handshake; `nil` without TLS.
    public var agreed: TLSAgreement? { tls?.agreement }

    /// Drops all bytes from the server before the system acknowledges them, like a machine without a network.
    public func fallSilent() throws {
        // A filter with one instruction, "keep nothing" (struct sock_filter): BPF_RET | BPF_K, no jumps, 0 bytes.
        var instruction = (code: UInt16(0x06), jumps: UInt16(0), bytes: UInt32(0))
        try withUnsafeMutablePointer(to: &instruction) { instruction in
            // The layout of struct sock_fprog. The kernel copies the filter before the call returns.
            var program = (count: UInt16(1), filter: instruction)
            let attachFilter: Int32 = 26  // SO_ATTACH_FILTER
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            guard setsockopt(descriptor, SOL_SOCKET, attachFilter, &program, size) == 0 else {
                throw TestClientError.system("setsockopt", errno)
            }
        }
    }

    /// Closes the connection; in order if the server has sent everything.
    public func close() {
        guard descriptor >= 0 else { return }
        tls = nil
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Resets the connection.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Repeats a call that was interrupted. A call with a time limit is interrupted even without a signal when another
    /// thread closes a loop of libuv 1.45 or later, which uses io_uring.
    private func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    static func error(_ call: String) -> TestClientError {
        switch errno {
        case EAGAIN: .timedOut
        case ECONNRESET, EPIPE: .reset
        default: .system(call, errno)
        }
    }
}
