import Glibc
import Server
import TestSupport
import Testing
import Transport

@Suite("Warnings at the start")
struct StartWarningsTests {
    @Test(arguments: [
        ("0.0.0.0/0", true), ("::/0", true), ("128.0.0.0/1", true), ("8.0.0.0/7", true), ("2000::/3", true),
        ("10.0.0.0/8", false), ("fc00::/7", false), ("192.0.2.1", false), ("::1", false),
    ])
    func `name proxies that are trusted beyond one network`(range: String, isWarned: Bool) throws {
        let warnings = StartWarnings.warnings(trustedProxies: [try #require(IPRange(range))], isRoot: false)
        #expect(warnings.count == (isWarned ? 1 : 0))
        if isWarned { #expect(warnings[0].contains("--trust-proxy \(range) ")) }
    }

    @Test func `name root as the user`() {
        #expect(StartWarnings.warnings(trustedProxies: [], isRoot: true).first?.contains("as root") == true)
        #expect(StartWarnings.warnings(trustedProxies: [], isRoot: false).isEmpty)
    }

    @Test(
        arguments: [(0o600, nil), (0o640, nil), (0o644, "read"), (0o604, "read"), (0o602, "change")] as [(Int, String?)]
    )
    func `name secrets that others can read or change`(mode: Int, verb: String?) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "secret")
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        chmod(path, mode_t(mode))
        let warnings = StartWarnings.warnings(secrets: [("--jwt-secret-file", path), ("--tls-key", "/nowhere")])
        #expect(
            warnings
                == (verb.map {
                    ["all users of this machine can \($0) the secret of --jwt-secret-file: chmod o= \(path)"]
                } ?? []))
    }
}
