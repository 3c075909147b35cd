import Testing

@testable import Transport

@Suite("IP addresses and their ranges")
struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::1", "::1"), ("::", "::"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("fe80::1", "fe80::1"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ])
    func `An address is parsed from and written in its usual notation`(text: String, written: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == written)
        #expect(address.isIPv4 == !written.contains(":"))
        #expect(IPAddress(written) == address)
    }

    @Test(arguments: [
        "", "1", "localhost", "127.0.0", "127.0.0.1.1", "127.0.0.256", "127.0.0.01", "0x7f.0.0.1", "2130706433",
        "127.1", " 127.0.0.1", "127.0.0.1 ", "127.0.0.1\0", "127.0.0.1:80", "[::1]", ":::", "1::2::3", "g::1",
        "fe80::1%eth0", "::ffff:1.2.3", "12345::", "127.0.0.1/8", "１.2.3.4",
    ])
    func `Other text is not an address`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "9.255.255.255", false),
        ("192.168.1.7", "192.168.1.7", true), ("192.168.1.7", "192.168.1.6", false),
        ("192.168.1.7/32", "192.168.1.7", true), ("10.128.0.0/9", "10.127.0.1", false),
        ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("::/0", "2001:db8::1", true),
        ("::/0", "8.8.8.8", false), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
        ("::1", "::1", true),
        ("::1", "::2", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.0/104", "10.1.1.1", true),
        ("2001:db8::/127", "2001:db8::1", true), ("2001:db8::/127", "2001:db8::2", false),
    ])
    func `A range contains the addresses with its prefix`(range: String, address: String, isIn: Bool) throws {
        let (range, address) = try (#require(IPRange(range)), #require(IPAddress(address)))
        #expect(range.contains(address) == isIn)
        #expect([range].contains(address) == isIn)
        #expect(![IPRange]().contains(address))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8", 8), ("192.0.2.1", "192.0.2.1/32", 32), ("::/0", "::/0", 0),
        ("fd00::/8", "fd00::/8", 8), ("::ffff:10.0.0.0/104", "10.0.0.0/8", 8), ("0.0.0.0/0", "0.0.0.0/0", 0),
    ])
    func `A range is described in CIDR notation`(text: String, description: String, prefix: Int) throws {
        let range = try #require(IPRange(text))
        #expect(range.description == description && range.prefix == prefix)
        #expect(range.isIPv4 == !description.contains(":"))
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/0008",
        "::/129",
        "10.0.0.1/8", "fd00::1/8", "10.0.0.0/255.0.0.0", "unix", "private", "10.0.0.0 /8", "*",
    ])
    func `Other text is not a range, nor is one with bits after its prefix`(text: String) {
        #expect(IPRange(text) == nil)
    }
}
