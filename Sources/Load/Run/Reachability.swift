import Glibc

/// A check before a run that the server accepts connections. It reports the reason if not.
enum Reachability {
    /// Maximum time of the attempt, in seconds.
    static let patience = 5

    /// Connects and disconnects.
    ///
    /// - Throws: an error with the system's reason.
    static func check(_ endpoint: Endpoint) throws(LoadError) {
        // The name has addresses of both families; the connections of a run use the first.
        let host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(endpoint.port), &hints, &list)
        guard status == 0, let first = list?.pointee else {
            throw LoadError("'\(endpoint.host)' cannot be found: \(String(cString: gai_strerror(status)))")
        }
        // The caller of getaddrinfo owns the list and must free it.
        defer { freeaddrinfo(list) }
        let descriptor = socket(first.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure(endpoint) }
        defer { close(descriptor) }
        // On Linux this limits connect() too (socket(7)).
        var time = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        guard connect(descriptor, first.ai_addr, first.ai_addrlen) == 0 else { throw failure(endpoint) }
    }

    private static func failure(_ endpoint: Endpoint) -> LoadError {
        let reason = errno == EINPROGRESS ? "no answer within \(patience) s" : String(cString: strerror(errno))
        return LoadError("cannot connect to \(endpoint.authority): \(reason)")
    }
}
