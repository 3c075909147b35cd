import Testing

@testable import HTTP

@Suite("The accepted hosts of a server in open mode")
struct HostPolicyTests {
    private let policy = HostPolicy(names: ["Chat.Example", "second.example."])

    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST:1", "localhost.", "localhost.:8080", "localhost:", "127.0.0.1",
        "127.0.0.1:8080", "10.1.2.3", "192.168.0.255:80", "127.0.0.1.", "[::1]", "[::1]:8080", "[fe80::1]:80",
        "[::ffff:127.0.0.1]", "chat.example", "CHAT.example:443", "chat.example.", "second.example",
        "second.example.:80",
    ])
    func `include localhost, IP addresses and given names, with any port`(authority: String) {
        let isAccepted = policy.accepts(authority.utf8.span)
        #expect(isAccepted)
    }

    @Test(arguments: [
        "", ".", "evil.example", "evil.example:8080", "localhost.evil.example",
        "evil-localhost", "localhos", "localhost..", "chat.example.evil.example", "a.chat.example", "chat.examplee",
        "127.0.0.1.evil.example", "127.0.0.1..", "127.0.0", "127.0.0.1.1", "127.0.0.256", "127.0.0.01",
        "0x7f000001", "2130706433", "127.1", "1.2.3.4x", "[::1", "[]", "[localhost]", "%6cocalhost", "localhost%00",
        " localhost", "localhost\t",
    ])
    func `include no others`(authority: String) {
        let isAccepted = policy.accepts(authority.utf8.span)
        #expect(!isAccepted)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", false),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", false),
        ("GET http://localhost:80/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", true),
        ("GET / HTTP/1.0\r\n\r\n", false), ("GET / HTTP/1.0\r\nHost: [::1]:8080\r\n\r\n", true),
        ("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n", false),
    ])
    func `are compared with the request's host, where an absolute-form target takes precedence over Host`(
        text: String, isAccepted: Bool
    ) throws {
        let request = try #require(onlyRequest(in: text))
        #expect(policy.accepts(request.head) == isAccepted)
    }

    @Test(arguments: [
        ("chat.example", true), ("localhost", true), ("a-b_c.d", true), ("10.0.0.1", true), ("chat.example.", true),
        ("", false), ("*", false), ("chat.example:80", false), ("http://chat.example", false), ("[::1]", false),
        ("::1", false), ("a b", false), ("%41", false), ("a/b", false),
    ])
    func `are configured as plain names`(text: String, isName: Bool) {
        #expect(HostPolicy.isName(text) == isName)
    }
}
