import Testing

@testable import Server

@Suite struct LogRedactionTests {
    @Test(arguments: [
        ("/v1/live?access_token=abc.def-_", "/v1/live?access_token=[redacted]"),
        ("/v1/live?access_token=abc&since=5", "/v1/live?access_token=[redacted]&since=5"),
        ("/v1/live?since=5&access_token=abc", "/v1/live?since=5&access_token=[redacted]"),
        ("?access_token=a&access_token=b", "?access_token=[redacted]&access_token=[redacted]"),
        ("GET /?access_token=abc HTTP/1.1", "GET /?access_token=[redacted] HTTP/1.1"),
        ("access_token=", "access_token=[redacted]"),
        ("/?access_token=a=b;c#d\"e", "/?access_token=[redacted]"),
    ])
    func `the value of an access token is removed`(target: String, expected: String) {
        #expect(redactingTokens(in: target) == expected)
    }

    @Test(arguments: [
        ("?Access_Token=abc", "?Access_Token=[redacted]"), ("?access%5Ftoken=abc", "?access%5Ftoken=[redacted]"),
        ("?%61ccess%5ftoken=abc&x", "?%61ccess%5ftoken=[redacted]&x"),
        ("?%41CCESS_TOKEN=abc", "?%41CCESS_TOKEN=[redacted]"),
        ("?to=%2Flive%3Faccess_token%3Dabc&x", "?to=%2Flive%3Faccess_token%3D[redacted]&x"),
    ])
    func `the parameter's name is found in any notation`(target: String, expected: String) {
        #expect(redactingTokens(in: target) == expected)
    }

    @Test(arguments: [
        "", "/v1/rooms/x/messages?limit=5", "access_token", "access_token&x=1", "/?access_tokens=5", "/?access%5", "%",
        "/?access%ZZtoken=1", "/é?x=😀", "access_toke", "accessaccess_toke=n",
    ])
    func `other text is unchanged`(target: String) {
        #expect(redactingTokens(in: target) == target)
    }

    @Test func `redacting twice changes nothing more`() {
        let once = redactingTokens(in: "/?access_token=abc&b=é")
        #expect(redactingTokens(in: once) == once)
    }

    @Test(arguments: [
        "token", "access_token", "accessToken", "Authorization", "authorization", "proxy-authorization", "x-auth-token",
        "Cookie", "set_cookie", "jwt", "client_secret", "password", "Sec-WebSocket-Protocol", "sec_websocket_protocol",
    ])
    func `keys of credentials are recognized`(key: String) {
        #expect(LogRedaction.isSecret(key: key))
    }

    @Test(arguments: ["room", "target", "author", "sec-websocket-version", "user", ""])
    func `other keys are not taken for credentials`(key: String) {
        #expect(!LogRedaction.isSecret(key: key))
    }
}
