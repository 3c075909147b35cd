import Glibc

/// Why a ``TestClient`` could not go on.
public enum TestClientError: Error, Equatable {
    /// The connection was not accepted.
    case refused
    /// The TLS handshake failed, for OpenSSL's reason.
    case handshake(String)
    /// The server cut the connection, perhaps with bytes of it on the way.
    case reset
    /// The server ended its side before what was waited for had come.
    case ended(after: String)
    /// Nothing came, or nothing could be sent, for as long as a test is patient.
    case timedOut
    /// A system call failed.
    case system(String, Int32)
}

/// A client on a blocking socket, plain or TLS, for tests: what it waits for comes, or it throws.
public final class TestClient {
    /// How long it waits for bytes, in seconds: long enough to be reached only by what will never come.
    public static let patience = 60

    private var descriptor: Int32
    private var tls: TLSSession?

    /// A client that has its socket, and nobody to talk to yet: see ``connect(to:host:)``.
    ///
    /// - Parameters:
    ///   - isIPv6: the family of addresses that it may connect to.
    ///   - receiveBuffer: what the kernel receives before the client reads, in bytes; the system's default if nil.
    public init(isIPv6: Bool = false, receiveBuffer: Int32? = nil) throws {
        // A test whose server has gone shall hear of it by an error.
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

    /// A client that is connected.
    ///
    /// - Parameters:
    ///   - preface: what it sends before TLS begins.
    ///   - tls: what it wants of TLS; nil for plain.
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
        guard Glibc.connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
            throw errno == ECONNREFUSED ? TestClientError.refused : TestClientError.system("connect", errno)
        }
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
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { throw Self.error("send") }
        return count
    }

    /// Says that nothing more will be sent; answers can still be read.
    public func finishSending() {
        tls?.sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Receiving

    /// The next bytes, or none when the server has ended its side.
    public func receiveSome(atMost count: Int = 64 * 1024) throws -> [UInt8] {
        if let tls { return try tls.read(atMost: count) }
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        guard received >= 0 else { throw Self.error("recv") }
        return Array(buffer[..<received])
    }

    /// Waits for bytes, or for the end of the server's side, but no longer than this.
    ///
    /// - Returns: whether something has come. What TLS has decrypted already is not seen.
    public func waitForBytes(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Bytes until `isEnough` holds for all of them together.
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

    /// Text that is as long as `text`, which it should be.
    public func receive(asLongAs text: String) throws -> String {
        let count = text.utf8.count
        return String(decoding: try receive { $0.count >= count }, as: UTF8.self)
    }

    /// Everything until the server ends its side.
    public func receiveToEnd() throws -> [UInt8] {
        var received: [UInt8] = []
        while true {
            let some = try receiveSome()
            if some.isEmpty { return received }
            received += some
        }
    }

    /// Waits until the server has ended the connection, in good order or not.
    public func waitForEnd() throws {
        do {
            _ = try receiveToEnd()
        } catch TestClientError.reset {}
    }

    // MARK: The rest

    /// What shows the server that this client has been there before; nil when plain.
    public var ticket: TLSTicket? { tls?.ticket }

    /// The version of TLS that was agreed on, and the name in the server's certificate; nil when plain.
    public var agreed: TLSAgreement? { tls?.agreement }

    /// Drops what comes from the server from now on before the system acknowledges it, as a machine that is gone.
    public func fallSilent() throws {
        // A filter of one instruction, "keep nothing" (struct sock_filter): BPF_RET | BPF_K, no jumps, 0 bytes.
        var instruction = (code: UInt16(0x06), jumps: UInt16(0), bytes: UInt32(0))
        try withUnsafeMutablePointer(to: &instruction) { instruction in
            // What struct sock_fprog is. The kernel copies the filter before the call returns.
            var program = (count: UInt16(1), filter: instruction)
            let attachFilter: Int32 = 26  // SO_ATTACH_FILTER
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            guard setsockopt(descriptor, SOL_SOCKET, attachFilter, &program, size) == 0 else {
                throw TestClientError.system("setsockopt", errno)
            }
        }
    }

    /// Ends the connection, in good order if the server had said all.
    public func close() {
        guard descriptor >= 0 else { return }
        tls = nil
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Cuts the connection with a reset.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    static func error(_ call: String) -> TestClientError {
        switch errno {
        case EAGAIN: .timedOut
        case ECONNRESET, EPIPE: .reset
        default: .system(call, errno)
        }
    }
}
