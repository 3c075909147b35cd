import Testing

@testable import HTTP

@Suite("The hops that proxies report")
struct ForwardedHopsTests {
    private func texts(_ hops: ForwardedHops) -> [String?] {
        hops.map { if case .address(let text) = $0 { String(text) } else { nil } }
    }

    @Test(
        arguments: [
            (["192.0.2.1"], ["192.0.2.1"]), (["192.0.2.1, 10.0.0.1"], ["10.0.0.1", "192.0.2.1"]),
            (["192.0.2.1", "10.0.0.1"], ["10.0.0.1", "192.0.2.1"]), (["192.0.2.1:4711"], ["192.0.2.1"]),
            (["[2001:db8::1]:443"], ["2001:db8::1"]), (["[2001:db8::1]"], ["2001:db8::1"]),
            (["2001:db8::1"], ["2001:db8::1"]),
            ([" \t192.0.2.1\t , ,10.0.0.1,"], ["10.0.0.1", "192.0.2.1"]), ([], []), ([""], []), ([", ,"], []),
            (["unknown"], [nil]), (["Unknown, 10.0.0.1"], ["10.0.0.1", nil]), (["_hidden"], [nil]),
            (["192.0.2.1:"], [nil]),
            (["192.0.2.1:123456"], [nil]), (["192.0.2.1:x"], [nil]), (["[::1"], [nil]), (["[::1]x"], [nil]),
            (["[::1]:"], [nil]),
            (["\"192.0.2.1\""], ["\"192.0.2.1\""]), (["evil"], ["evil"]), ([":80"], [nil]),
        ] as [([String], [String?])])
    func `are read from the end of X-Forwarded-For, with or without ports`(lines: [String], hops: [String?]) {
        #expect(texts(.xForwardedFor(lines)) == hops)
    }

    @Test(
        arguments: [
            (["for=192.0.2.60;proto=http;by=203.0.113.43"], ["192.0.2.60"]),
            (["for=192.0.2.43, for=\"[2001:db8:cafe::17]:4711\""], ["2001:db8:cafe::17", "192.0.2.43"]),
            (["For=\"192.0.2.60:47011\""], ["192.0.2.60"]),
            (["FOR=192.0.2.1", "for=10.0.0.1"], ["10.0.0.1", "192.0.2.1"]),
            (["for=\"_gazonk\""], [nil]), (["for=_gazonk, for=unknown, for=10.0.0.1"], ["10.0.0.1", nil, nil]),
            (["for=\"192.0.2.1:_port\""], ["192.0.2.1"]), (["for=\"192.0.2.1:_\""], [nil]),
            (["proto=https;by=_x"], [nil]),
            (["host=\"a,for=1.2.3.4\";for=192.0.2.1"], ["192.0.2.1"]), (["for=\"192.0.2.\\1\""], ["192.0.2.1"]),
            ([" for=192.0.2.1 ; proto=http , ,for=10.0.0.1;"], ["10.0.0.1", "192.0.2.1"]), ([], []), ([""], []),
            ([","], []),
            (["for=\"[2001:db8::1]\""], ["2001:db8::1"]),
        ] as [([String], [String?])])
    func `are read from the end of Forwarded, quoted or not`(lines: [String], hops: [String?]) {
        #expect(texts(.forwarded(lines)) == hops)
    }

    @Test(arguments: [
        "for", "for=", "=1.2.3.4", "for 1.2.3.4", "for=1.2.3.4:80", "for=[::1]", "for=\"1.2.3.4", "for=\"1.2.3.4\\",
        "for=1.2.3.4;for=5.6.7.8", "for=1.2.3.4 5.6.7.8", "for=1.2.3.4;;x", "for=1.2.3.4, x", "for = 1.2.3.4",
        "for=\"evil, for=10.0.0.1", "for='1.2.3.4:5'",
    ])
    func `of a malformed Forwarded line are unknown, while other lines are read`(line: String) {
        #expect(texts(.forwarded([line])) == [nil])
        #expect(texts(.forwarded(["for=192.0.2.1", line, "for=10.0.0.1"])) == ["10.0.0.1", nil, "192.0.2.1"])
    }

    @Test func `are unknown if an element has too many parameters`() {
        func element(_ count: Int) -> String { "for=192.0.2.1" + (1..<count).map { ";p\($0)=x" }.joined() }
        #expect(texts(.forwarded([element(ForwardedHops.maximumParameters)])) == ["192.0.2.1"])
        #expect(texts(.forwarded([element(ForwardedHops.maximumParameters + 1)])) == [nil])
    }

    @Test func `are unknown if a Forwarded line has too many elements`() {
        func line(_ count: Int) -> String { Array(repeating: "for=192.0.2.1", count: count).joined(separator: ",") }
        #expect(texts(.forwarded([line(ForwardedHops.maximumElements)])).count == ForwardedHops.maximum)
        #expect(texts(.forwarded([line(ForwardedHops.maximumElements + 1)])) == [nil])
    }

    @Test func `are read only as far as they are asked for`() {
        // The first element is malformed, which nobody sees who stops before it.
        var hops = ForwardedHops.xForwardedFor(["192.0.2.1:x, 192.0.2.2 ,, 192.0.2.3, ", ""])
        #expect(hops.next() == .address("192.0.2.3"))
        #expect(hops.next() == .address("192.0.2.2"))
        #expect(hops.next() == .hidden)
        #expect(hops.next() == nil)
        #expect(hops.next() == nil)
    }

    @Test func `are bounded in number`() {
        let line = Array(repeating: "10.0.0.1", count: 1000).joined(separator: ",")
        #expect(texts(.xForwardedFor([line])).count == ForwardedHops.maximum)
        #expect(texts(.xForwardedFor(Array(repeating: "10.0.0.1", count: 1000))).count == ForwardedHops.maximum)
    }
}
