import Glibc

/// The service manager that started this process, such as systemd (sd_notify(3), systemd.exec(5)).
enum ServiceManager {
    /// Sends a state, such as `READY=1`, to the socket in `NOTIFY_SOCKET`. Does nothing without one.
    static func notify(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), let first = path.utf8.first else {
            return
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An initial "@" stands for the zero byte of an abstract address. The last byte stays zero, which ends a path.
        let name = [first == UInt8(ascii: "@") ? 0 : first] + path.utf8.dropFirst()
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(state.utf8)
        // The address lives until the call returns. A manager that does not listen is no reason to fail.
        _ = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, size)
            }
        }
    }

    /// Sends `RELOADING=1` with the time that systemd wants beside it, in microseconds.
    static func notifyReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        notify("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
    }

    /// The interval for `WATCHDOG=1`: half of the time after which the manager ends a silent service (`WATCHDOG_USEC`). Nil
    /// without a watchdog.
    static var watchdogInterval: Duration? {
        guard let text = getenv("WATCHDOG_USEC"), let microseconds = Int64(String(cString: text)), microseconds > 1
        else {
            return nil
        }
        return .microseconds(microseconds / 2)
    }

    /// The options of `serve` whose files can be credentials, each under the option's name (`LoadCredential=`).
    static let credentialOptions = ["jwt-secret-file", "jwt-key", "jwks", "tls-cert", "tls-key"]

    /// Returns the file of the credential for an option; nil if the manager has passed none.
    static func credential(for option: String, in environment: [String: String]) -> String? {
        guard credentialOptions.contains(option), let directory = environment["CREDENTIALS_DIRECTORY"] else {
            return nil
        }
        let path = "\(directory)/\(option)"
        return access(path, R_OK) == 0 ? path : nil
    }
}
