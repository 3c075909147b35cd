import Testing
import Transport

@testable import Webhooks

@Suite("The URL of a receiver")
struct ReceiverURLTests {
    private func problem(_ url: String, _ change: (inout SenderConfiguration) -> Void = { _ in }) -> String? {
        var configuration = SenderConfiguration(userAgent: "test")
        change(&configuration)
        return ReceiverURL.problem(url, configuration)
    }

    @Test func `has https and a host, and may have a port, a path and a query`() {
        for url in [
            "https://example.com", "https://example.com:8443/a/b?c=d", "https://1.1.1.1/", "https://[2606:4700::1111]/",
        ] {
            #expect(problem(url) == nil, "\(url)")
        }
        #expect(problem("http://example.com/") { $0.allowsHTTP = true } == nil)
        #expect(problem("https://10.1.2.3/") { $0.allowed = [IPRange("10.0.0.0/8")!] } == nil)
        #expect(problem("https://10.1.2.3/") { $0.proxy = "http://proxy:3128" } == nil)
    }

    @Test(arguments: [
        ("http://example.com/", "must begin with https://"), ("ftp://example.com/", "must begin with https://"),
        ("example.com", "must be an absolute URL"), ("https://", "must be an absolute URL"),
        ("https://u:p@example.com/", "must have no user and no password"),
        ("https://u@example.com/", "must have no user and no password"),
        ("https://example.com/#part", "must have no fragment"),
        ("https://exam ple.com/", "must have no spaces and no control characters"),
        ("https://example.com/\n", "must have no spaces and no control characters"),
        ("https://127.0.0.1/", "must not have the address 127.0.0.1, which is not public"),
        ("https://2130706433/", "must not have the address 127.0.0.1, which is not public"),
        ("https://0x7f.1/", "must not have the address 127.0.0.1, which is not public"),
        ("https://[::1]/", "must not have the address ::1, which is not public"),
        ("https://[::ffff:10.0.0.1]/", "must not have the address 10.0.0.1, which is not public"),
        ("https://169.254.169.254/latest", "must not have the address 169.254.169.254, which is not public"),
        ("https://example.com/" + String(repeating: "a", count: 2048), "must be at most 2048 bytes long"),
    ])
    func `is refused with the reason`(url: String, reason: String) {
        #expect(problem(url) == reason)
    }
}
