import Testing

@testable import Webhooks

@Suite("A webhook's secret")
struct WebhookSecretTests {
    private static let text = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private let body = Array(#"{"type":"messages"}"#.utf8)

    @Test func `signs as Standard Webhooks says`() throws {
        let secret = try #require(WebhookSecret(Self.text))
        let signature = "v1,Q/+pVVoEeD2FlzimPNfbfIyt4YI/ZsEafgqiM22d6ZY="
        #expect(secret.signature(of: body, id: "msg_1", timestamp: 1_700_000_000) == signature)
        #expect(
            [secret, secret].signatures(of: body, id: "msg_1", timestamp: 1_700_000_000) == "\(signature) \(signature)")
    }

    @Test func `is random, and read as it is written`() throws {
        let secret = WebhookSecret()
        #expect(WebhookSecret(secret.text) == secret)
        #expect(WebhookSecret() != secret)
    }

    @Test(arguments: [
        "", "whsec_", "whsec_AAAA", String(text.dropFirst(6)), text + "A", String(text.dropLast()),
        "Whsec_" + text.dropFirst(6),
    ])
    func `is refused without its prefix, with another size, or if it is no base64`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }
}
