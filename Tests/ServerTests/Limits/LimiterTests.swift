import HTTPTypes
import Testing
import Transport
import Wire

@testable import Server

@Suite("A limiter")
struct LimiterTests {
    private let alice = try! UserID("alice")
    private let bob = try! UserID("bob")
    private let here = AddressBlock("192.0.2.1")
    private let there = AddressBlock("192.0.2.2")

    @Test func `does not exist without limits`() {
        #expect(Limiter(RateLimits()) == nil)
    }

    @Test func `limits each action separately, by user and by address`() throws {
        var limits = RateLimits()
        let once = RateLimit("1/m")
        (limits.userSends, limits.userChanges, limits.userSubscriptions) = (once, once, once)
        (limits.userReads, limits.userSearches, limits.userInvites) = (once, once, once)
        limits.addressConnections = once
        let limiter = try #require(Limiter(limits))
        for action in [Limiter.Action.sends, .changes, .subscriptions, .reads, .searches, .invites] {
            #expect(limiter.admit(action, user: alice, address: here, at: 0) == nil)
            let exceeded = limiter.admit(action, user: alice, address: there, at: 0)
            #expect(exceeded?.policy == "\(action.rawValue)-per-user" && exceeded?.retryAfter == 60)
            #expect(limiter.admit(action, user: bob, address: here, at: 0) == nil)
            for _ in 1...3 { #expect(limiter.admit(action, user: nil, address: here, at: 0) == nil) }
        }
        #expect(limiter.admit(.connections, user: nil, address: here, at: 0) == nil)
        #expect(limiter.admit(.connections, user: nil, address: here, at: 0)?.policy == "connections-per-address")
        #expect(limiter.admit(.connections, user: nil, address: there, at: 0) == nil)
    }

    @Test func `limits each action of an address, whatever names it uses`() throws {
        let actions: [(WritableKeyPath<RateLimits, RateLimit?>, Limiter.Action)] = [
            (\.addressSends, .sends), (\.addressChanges, .changes), (\.addressSubscriptions, .subscriptions),
            (\.addressReads, .reads), (\.addressInvites, .invites),
        ]
        for (path, action) in actions {
            var limits = RateLimits()
            limits[keyPath: path] = RateLimit("1/m")
            let limiter = try #require(Limiter(limits))
            #expect(limiter.admit(action, user: alice, address: here, at: 0) == nil)
            let exceeded = limiter.admit(action, user: bob, address: here, at: 0)
            #expect(exceeded?.policy == "\(action.rawValue)-per-address")
            #expect(limiter.admit(action, user: bob, address: there, at: 0) == nil)
        }
    }

    @Test func `does not charge a user for actions that the address limit refuses`() throws {
        var limits = RateLimits()
        (limits.userSends, limits.addressSends) = (RateLimit("1/m:2"), RateLimit("1/m"))
        let limiter = try #require(Limiter(limits))
        #expect(limiter.admit(.sends, user: bob, address: here, at: 0) == nil)
        for _ in 1...5 {
            #expect(limiter.admit(.sends, user: alice, address: here, at: 0)?.policy == "sends-per-address")
        }
        for address in [there, AddressBlock("192.0.2.3")] {
            #expect(limiter.admit(.sends, user: alice, address: address, at: 0) == nil)
        }
    }

    @Test func `reports the limit and the time to retry in whole seconds`() throws {
        var limits = RateLimits()
        limits.addressSends = RateLimit("2/m:5")
        let limiter = try #require(Limiter(limits))
        for _ in 1...5 { _ = limiter.admit(.sends, user: alice, address: here, at: 0) }
        let exceeded = try #require(limiter.admit(.sends, user: alice, address: here, at: 1))
        #expect(exceeded.retryAfter == 30)
        #expect(
            exceeded.fields.map(\.description) == [
                #"RateLimit-Policy: "sends-per-address";q=2;w=60;backscroll-burst=5"#,
                #"RateLimit: "sends-per-address";r=0;t=30"#,
            ])
        #expect(exceeded.problem.detail == "Too many sends: 2 a minute is the limit of an address.")
        #expect(exceeded.problem.limit == 2 && exceeded.problem.retryAfter == 30)
    }

    @Test func `treats an IPv4 address as one client in any notation, and an IPv6 address by its first half`() {
        #expect(here != there && here != nil)
        #expect(AddressBlock("::ffff:192.0.2.1") == here)
        #expect(AddressBlock("2001:db8:1:2::1") == AddressBlock("2001:db8:1:2:ffff::9"))
        #expect(AddressBlock("2001:db8:1:2::1") != AddressBlock("2001:db8:1:3::1"))
        #expect(AddressBlock("::1") != AddressBlock("0.0.0.0"))
        for wrong in ["", "localhost", "1.2.3", "::g"] { #expect(AddressBlock(wrong) == nil) }
    }
}

extension AddressBlock {
    /// Parses an address in its usual notation; `nil` if it is not one.
    fileprivate init?(_ text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }
}
