import Testing
import WebSocket

@Suite("Close codes, RFC 6455 §7.4")
struct CloseCodeTests {
    @Test func `Only registered codes and those of libraries and applications may be sent`() {
        let allowed = Set([1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))
        for code in UInt16.min...UInt16.max {
            #expect(CloseCode(rawValue: code).mayBeSent == allowed.contains(Int(code)), "\(code)")
        }
    }

    @Test func `Codes that mean a missing code may not be sent`() {
        for code in [CloseCode.noStatusReceived, .abnormalClosure] { #expect(!code.mayBeSent) }
    }

    @Test func `Backscroll's own codes are in the private range`() {
        for code in [
            CloseCode.badRequest, .tokenExpired, .notMember, .roomDeleted, .noProgress, .cursorUnknown, .tooManyFrames,
            .unavailable,
        ] {
            #expect((4000...4999).contains(code.rawValue))
        }
    }
}
