import HTTPTypes
import TestSupport
import Testing

@testable import HTTP

/// Replaces some bytes of a message by ones that parsers often mishandle.
struct Mutator {
    var random: SeededGenerator
    static let tokens: [[UInt8]] = [
        "\r\n", "\n", "\r", " ", "\t", ":", ",", ";", "0", "\r\n\r\n", "Content-Length: 3\r\n", "\u{0}", "\u{7F}", "%",
        "Transfer-Encoding: chunked\r\n", "chunked", "ffffffffffffffff", "HTTP/1.1", "\"", "\\", "é", "http://", "*",
        "#",
        "Host: x\r\n", "Connection: close\r\n", "99999999999999999999", "-", "+", "[", "]", "GET / HTTP/1.1\r\n", "?",
        "&",
    ].map { Array($0.utf8) }

    mutating func mutate(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let length = min(Int.random(in: 1...12, using: &random), bytes.count - place)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes.removeSubrange(place..<place + length)
            case 1: bytes.insert(contentsOf: Self.tokens.randomElement(using: &random) ?? [], at: place)
            case 2: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            case 3 where length > 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 4 where length > 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default:
                bytes.replaceSubrange(place..<place + length, with: Self.tokens.randomElement(using: &random) ?? [])
            }
        }
        return bytes
    }

    mutating func cut(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...80, using: &random))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}

@Suite("Random bytes with fixed seeds")
struct FuzzTests {
    @Test func `Mutated requests stay within the bounds, however they are cut`() {
        var limits = HTTPLimits()
        limits.headBytes = 400
        limits.targetBytes = 60
        limits.headerFields = 8
        limits.bodyBytes = 64
        limits.chunkExtensionBytes = 16
        limits.trailerBytes = 32
        let seeds = [SplitTests.stream] + SplitTests.hostile.map { Array((head() + $0).utf8) }
        var mutator = Mutator(random: SeededGenerator(seed: 1))
        var refused = 0
        var served = 0
        for round in 0..<10000 {
            let bytes = mutator.mutate(seeds[round % seeds.count])
            let whole = feed([bytes], limits: limits).withoutContinues
            let cut = feed(mutator.cut(bytes), limits: limits).withoutContinues
            #expect(whole == cut, "round \(round)")
            for request in whole.requests {
                #expect(request.bodyBytes <= limits.bodyBytes)
                #expect(request.fields.count <= limits.headerFields)
                #expect(request.path?.utf8.count ?? 0 <= limits.targetBytes)
                #expect(request.minorVersion == 0 || request.authority?.isEmpty == false)
            }
            refused += whole.refusal == nil ? 0 : 1
            served += whole.requests.count
        }
        // Both outcomes have occurred.
        #expect(refused > 2000)
        #expect(served > 2000)
    }

    @Test func `Mutated responses stay within the bounds, however they are cut`() {
        var limits = HTTPLimits()
        limits.headBytes = 200
        limits.bodyBytes = 64
        var mutator = Mutator(random: SeededGenerator(seed: 2))
        for round in 0..<5000 {
            let bytes = mutator.mutate(ResponseParserTests.stream)
            let whole = ResponseParserTests.feed([bytes], limits: limits)
            #expect(whole == ResponseParserTests.feed(mutator.cut(bytes), limits: limits), "round \(round)")
            #expect(whole.bodies.allSatisfy { $0.count <= limits.bodyBytes })
        }
    }

    @Test func `Mutated targets, media types and lists are parsed or refused`() {
        var mutator = Mutator(random: SeededGenerator(seed: 3))
        let seed = Array(
            "/v1/rooms/a%20b/messages?user=%E2%9D%A4&limit=3, application/json; charset=\"utf-8\";q=0.5".utf8)
        for _ in 0..<5000 {
            let text = String(decoding: mutator.mutate(seed), as: UTF8.self)
            let target = Target(text)
            let path = text.utf8.prefix { $0 != UInt8(ascii: "?") }
            #expect(target.path.utf8.elementsEqual(path))
            if let segments = try? target.segments() {
                #expect(segments.allSatisfy { !$0.utf8.contains(0) || text.utf8.contains(0) })
            }
            _ = try? target.parameters()
            _ = MediaType(text)?.isCompatibleWithJSON
            _ = Origin(text)?.isSame(asHost: text)
            for element in ListElements(text) { #expect(!element.isEmpty) }
        }
    }
}
