import Testing

@testable import Server

@Suite("A traceparent header")
struct TraceParentTests {
    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `is read as it stands`() {
        #expect(TraceParent.parse(Self.trace) == Self.trace)
    }

    @Test(arguments: ["", "-more", "-"])
    func `of a later version is read without its further parts`(rest: String) {
        let known = "cc" + Self.trace.dropFirst(2)
        #expect(TraceParent.parse(known + rest) == known)
    }

    @Test(arguments: [
        "", "00", trace + "-more", String(trace.dropLast()), "ff" + trace.dropFirst(2), "0x" + trace.dropFirst(2),
        "cc" + trace.dropFirst(2) + "more",
        trace.uppercased(), trace.replacing("-", with: "_"), " " + trace,
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473ä-00f067aa0ba902b7-1",
    ])
    func `is ignored if it is malformed`(value: String) {
        #expect(TraceParent.parse(value) == nil)
    }
}
