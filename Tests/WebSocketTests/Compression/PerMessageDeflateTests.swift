import Testing
import WebSocket

@Suite("Negotiating compression, RFC 7692 §7.1")
struct PerMessageDeflateTests {
    private func handshake(
        _ extensions: [String], within windowBits: ClosedRange<Int>? = PerMessageDeflate.windowBits
    ) throws(HandshakeRefusal) -> ServerHandshake {
        let request = ServerHandshake.Request(
            method: "GET", httpMinorVersion: 1, host: ["localhost"], upgrade: ["websocket"], connection: ["Upgrade"],
            version: ["13"], key: ["dGhlIHNhbXBsZSBub25jZQ=="], extensions: extensions)
        return try ServerHandshake(request, supporting: [], deflatingWithin: windowBits)
    }

    private static let plain = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    /// An offer, and the largest window that the server may use according to its answer.
    @Test(
        arguments: [
            ("permessage-deflate", nil), ("permessage-deflate; client_max_window_bits", nil),
            ("x-webkit-deflate-frame, permessage-deflate", nil),
            ("permessage-deflate; server_max_window_bits=12; client_max_window_bits=12", 12),
            ("permessage-deflate; server_no_context_takeover", nil),
            ("permessage-deflate; client_no_context_takeover; server_no_context_takeover", nil),
            ("permessage-deflate; server_max_window_bits=9", 9), ("permessage-deflate; server_max_window_bits=15", 15),
            ("permessage-deflate; client_max_window_bits=8", nil),
            ("permessage-deflate;server_max_window_bits=\"10\"", 10),
            ("permessage-deflate;server_max_window_bits=\"1\\0\"", 10),
            ("\t,, permessage-deflate ;\tserver_max_window_bits = 11 ,", 11),
        ] as [(String, Int?)])
    func `An offer is accepted, always without context takeover`(offer: String, windowBits: Int?) throws {
        let handshake = try handshake([offer])
        let window = windowBits.map { "; server_max_window_bits=\($0)" } ?? ""
        #expect(handshake.deflate?.serverMaxWindowBits == windowBits)
        #expect(handshake.deflate?.answer == Self.plain + window)
        #expect(handshake.fields.last! == ("Sec-WebSocket-Extensions", Self.plain + window))
    }

    @Test(arguments: [
        "", "permessage-bzip2", "Permessage-Deflate", "permessage-deflate; unknown",
        "permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=010",
        "permessage-deflate; server_max_window_bits=+9", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_max_window_bits=7", "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=\"x\"",
        "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10",
        "permessage-deflate; client_max_window_bits; client_max_window_bits",
    ])
    func `An offer that cannot be met is declined, and the handshake continues without compression`(offer: String)
        throws
    {
        let handshake = try handshake([offer])
        #expect(handshake.deflate == nil)
        #expect(!handshake.fields.contains { $0.name == "Sec-WebSocket-Extensions" })
    }

    @Test func `The first acceptable offer is accepted, also over several lines`() throws {
        let offers = [
            "permessage-deflate; unknown, permessage-deflate; server_max_window_bits=8", "other; a=\"b\"",
            "permessage-deflate; server_max_window_bits=10, permessage-deflate",
        ]
        #expect(try handshake(offers).deflate?.serverMaxWindowBits == 10)
        #expect(try handshake(offers.reversed()).deflate?.serverMaxWindowBits == 10)
    }

    @Test func `A server declines windows that are too small, and answers larger ones with its own`() throws {
        func bits(_ asked: Int) throws -> Int? {
            try handshake(["permessage-deflate; server_max_window_bits=\(asked)"], within: 12...12)
                .deflate?.serverMaxWindowBits
        }
        #expect(try (8...15).map(bits) == [nil, nil, nil, nil, 12, 12, 12, 12])
        #expect(try handshake(["permessage-deflate"], within: 12...12).deflate?.answer == Self.plain)
    }

    @Test func `A server without compression accepts no offer`() throws {
        #expect(try handshake(["permessage-deflate"], within: nil).deflate == nil)
    }

    @Test(arguments: [
        "permessage-deflate;", "permessage-deflate; =1", "permessage-deflate; a=", "permessage-deflate; a=\"\"",
        "permessage-deflate; a=\"b", "permessage-deflate; a=\"b c\"", "permessage-deflate; a=\"b\\",
        "permessage-deflate; a=\"b\"c", "permessage deflate", "; a", "a, (b)", "ä",
    ])
    func `A malformed list of extensions fails the handshake, RFC 6455 §9.1`(line: String) {
        for lines in [[line], ["permessage-deflate", line]] {
            let refusal = #expect(throws: HandshakeRefusal.self) { try handshake(lines) }
            #expect(refusal?.status == 400)
        }
    }
}
