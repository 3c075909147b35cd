import Testing

@testable import Load

@Suite struct ResumePointTests {
    static func noting(_ frames: String...) -> Int64? {
        var point = ResumePoint()
        for frame in frames { point.note(Array(frame.utf8).span) }
        return point.rev
    }

    @Test func `the first subscription begins at the room's rev`() {
        #expect(Self.noting() == nil)
        #expect(Self.noting(#"{"type":"subscribed","room":"r","head":7,"rev":9,"epoch":"e"}"#) == 9)
    }

    @Test func `each message moves it on`() {
        let subscribed = #"{"type":"subscribed","room":"r","head":7,"rev":9,"epoch":"e"}"#
        #expect(
            Self.noting(subscribed, #"{"type":"message","message":{"room":"r","seq":8,"rev":10,"text":"x"}}"#) == 10)
    }

    @Test func `a second subscription does not pass over what was not replayed`() {
        #expect(
            Self.noting(
                #"{"type":"subscribed","room":"r","head":0,"rev":0,"epoch":"e"}"#,
                #"{"type":"message","message":{"room":"r","seq":1,"rev":1}}"#,
                #"{"type":"subscribed","room":"r","head":5,"rev":5,"epoch":"e"}"#,
                #"{"type":"live","room":"r","rev":5}"#) == 1)
    }

    @Test func `other frames say nothing of it`() {
        #expect(Self.noting(#"{"type":"presence","room":"r","online":3}"#, "", "{", #"{"type":"message""#) == nil)
        #expect(Self.noting(#"{"type":"message","message":{"room":"r"}}"#) == nil)
        #expect(Self.noting(#"{"type":"message","message":{"rev":12345678901234567890}}"#) == nil)
    }

    @Test func `the epoch is that of a subscribed frame`() {
        func epoch(_ frame: String) -> String? { ResumePoint.epoch(in: Array(frame.utf8).span) }
        #expect(epoch(#"{"type":"subscribed","room":"r","head":7,"rev":9,"epoch":"k3j"}"#) == "k3j")
        #expect(epoch(#"{"type":"message","message":{"epoch":"no"}}"#) == nil)
    }

    @Test func `bytes are searched to their very end`() {
        func end(_ needle: StaticString) -> Int? { Array("abcabd".utf8).span.end(ofFirst: needle) }
        #expect(end("abd") == 6)
        #expect(end("abc") == 3)
        #expect(end("abdx") == nil)
        func contains(_ needle: String, in text: String) -> Bool { Array(text.utf8).span.contains(Array(needle.utf8)) }
        #expect(contains("cab", in: "abcabd"))
        #expect(!contains("a", in: ""))
    }
}
