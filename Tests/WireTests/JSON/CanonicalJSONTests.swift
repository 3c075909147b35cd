import Foundation
import TestSupport
import Testing

@testable import Wire

@Suite struct CanonicalJSONTests {
    private func canonical(_ text: String) -> String {
        String(decoding: CanonicalJSON.bytes(of: Array(text.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        ("{}", ""), ("", ""), (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#),
        (#"{"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]}"#, #"{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}"#),
        (#"{"a":1.0}"#, #"{"a":1}"#), (#"{"a":[10,2]}"#, #"{"a":[1e1,2]}"#), (#"{"a":-0}"#, #"{"a":0}"#),
        (#"{"\u0061":"\u0062\n"}"#, #"{"a":"b\n"}"#), (#"{"a":null,"b":true}"#, #"{"a":null,"b":true}"#),
        (#"{"é":1,"z":2,"😀":3,"":4}"#, #"{"":4,"z":2,"é":1,"😀":3}"#),
    ])
    func `each value has one canonical text`(text: String, expected: String) {
        #expect(canonical(text) == expected)
    }

    @Test func `text that is not an object, or is nested too deeply, is its own canonical form`() {
        for text in ["{", "nonsense", #"{"a":1,"a":1}"#] { #expect(canonical(text) == text) }
        let deep = String(repeating: #"{"b": "#, count: 65) + "1" + String(repeating: "}", count: 65)
        #expect(canonical(deep) == deep)
        let allowed = String(repeating: #"{"b": "#, count: 64) + "1" + String(repeating: "}", count: 64)
        #expect(canonical(allowed) == allowed.replacing(" ", with: ""))
    }

    @Test func `random objects keep their meaning, as another parser confirms`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let text = random.object()
            let original = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
            var json = try JSONScanner(Array(text.utf8))
            let compact = try json.readCompact()
            try json.finish()
            let reread = try JSONSerialization.jsonObject(with: Data(compact.bytes)) as? NSDictionary
            #expect(original != nil && original == reread)

            let canonical = CanonicalJSON.bytes(of: compact.bytes)
            #expect(canonical == CanonicalJSON.bytes(of: canonical))
            #expect(canonical == CanonicalJSON.bytes(of: Array(text.utf8)))
        }
    }
}
