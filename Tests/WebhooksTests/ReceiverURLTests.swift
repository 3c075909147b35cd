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
            "https://xn--bcher-kva.example/", "https://example.com./", "https://_a.b-c.example:65535/",
            "HTTPS://1E3.Example/",
            "https://\(String(repeating: "a", count: 63)).example/", "https://intranet/b%C3%BCcher",
        ] {
            #expect(problem(url) == nil, "\(url)")
        }
        #expect(problem("http://example.com/") { $0.allowsHTTP = true } == nil)
        #expect(problem("https://10.1.2.3/") { $0.allowed = [IPRange("10.0.0.0/8")!] } == nil)
        #expect(problem("https://10.1.2.3/") { $0.proxy = "http://proxy:3128" } == nil)
        for host in ["localhost", "a.LOCALHOST."] {
            #expect(problem("https://\(host)/") { $0.allowed = [IPRange("127.0.0.0/8")!] } == nil)
            #expect(problem("https://\(host)/") { $0.allowed = [IPRange("::1")!] } == nil)
            #expect(problem("https://\(host)/") { $0.proxy = "http://proxy:3128" } == nil)
        }
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
        ("https://bücher.example/", "must have its host name in ASCII, an international one as xn--…"),
        ("https://b%C3%BCcher.example/", "must have its host name in ASCII, an international one as xn--…"),
        ("https://a%FF.example/", "must have its host name in ASCII, an international one as xn--…"),
        ("https://127。0。0。1/", "must have its host name in ASCII, an international one as xn--…"),
        ("https://①.1.1.1/", "must have its host name in ASCII, an international one as xn--…"),
        ("https://example.com:0/", "must have a port from 1 to 65535"),
        ("https://example.com:65536/", "must have a port from 1 to 65535"),
        ("https://a..example/", "must have a host that is an address or a name of DNS"),
        ("https://.example/", "must have a host that is an address or a name of DNS"),
        ("https://256.1.1.1/", "must have a host that is an address or a name of DNS"),
        ("https://1.1.1.1./", "must have a host that is an address or a name of DNS"),
        (
            "https://\(String(repeating: "a", count: 64)).example/",
            "must have a host that is an address or a name of DNS"
        ),
        (
            "https://\(String(repeating: "a.", count: 124))example/",
            "must have a host that is an address or a name of DNS"
        ),
        ("https://localhost/", "must not have the host localhost, which is not public"),
        ("https://a.LocalHost./", "must not have the host localhost, which is not public"),
        ("https://@example.com/", "must have no user and no password"),
        ("https://example.com/" + String(repeating: "a", count: 2048), "must be at most 2048 bytes long"),
    ])
    func `is refused with the reason`(url: String, reason: String) {
        #expect(problem(url) == reason)
    }
}
