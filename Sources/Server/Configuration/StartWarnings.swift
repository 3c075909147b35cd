import Glibc
public import Transport

/// Warnings about settings that work, but are hardly meant: the server starts, and its log has a line for each.
public enum StartWarnings {
    /// Returns the warnings about how the server was started.
    ///
    /// - Parameters:
    ///   - trustedProxies: The ranges of `--trust-proxy`.
    ///   - isRoot: True if the process runs as root.
    public static func warnings(trustedProxies: [IPRange], isRoot: Bool) -> [String] {
        var warnings = trustedProxies.filter(isTooWide).map { range in
            "--trust-proxy \(range) trusts more than one network of proxies: a client in it can name any address as its own, "
                + "and so escape the limits and forge the log"
        }
        if isRoot {
            warnings.append("the server runs as root, which it does not need: give it a user of its own")
        }
        return warnings
    }

    /// Returns the warnings about files with a secret that every user of this machine can read or change.
    ///
    /// - Parameter files: The option and the path of each file. Files that cannot be looked at are left out.
    public static func warnings(secrets files: [(option: String, path: String)]) -> [String] {
        files.compactMap { option, path in
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & (S_IROTH | S_IWOTH) != 0 else { return nil }
            return "all users of this machine can \(status.st_mode & S_IROTH != 0 ? "read" : "change") the secret of "
                + "\(option): chmod o= \(path)"
        }
    }

    /// True for a range that is wider than the largest private networks, 10.0.0.0/8 and fc00::/7.
    private static func isTooWide(_ range: IPRange) -> Bool {
        range.prefix < (range.isIPv4 ? 8 : 7)
    }
}
