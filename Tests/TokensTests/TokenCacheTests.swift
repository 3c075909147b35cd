import Chat
import Testing
import Wire

@testable import Tokens

@Suite("The token cache")
struct TokenCacheTests {
    private let noon = Timestamp(milliseconds: 1_000_000)
    private let later = Timestamp(milliseconds: 2_000_000)

    private func identity(_ name: String, end: Timestamp) throws -> Identity {
        Identity(user: try UserID(name), end: end)
    }

    @Test func `returns a token's identity until it ends, and none for a similar token`() throws {
        var cache = TokenCache()
        let alice = try identity("alice", end: later)
        cache.insert(.init("K"), alice)
        #expect(cache.identity(of: .init("K"), at: noon) == alice)
        // The Kelvin sign, which Unicode considers equivalent.
        #expect(cache.identity(of: .init("\u{212A}"), at: noon) == nil)
        #expect(cache.identity(of: .init("K"), at: later) == nil)
        #expect(cache.count == 0)
    }

    @Test func `is bounded, evicts unused tokens, and keeps used ones`() throws {
        var cache = TokenCache()
        let alice = try identity("alice", end: later)
        cache.insert(.init("kept"), alice)
        for number in 0..<10 * TokenCache.halfCapacity {
            cache.insert(.init("\(number)"), alice)
            #expect(cache.identity(of: .init("kept"), at: noon) == alice)
        }
        #expect(cache.count <= 2 * TokenCache.halfCapacity)
        #expect(cache.identity(of: .init("0"), at: noon) == nil)
    }
}
