import Testing

@testable import Load

@Suite struct ResumePointTests {
    static func noting(_ frames: String...) -> Int64? {
        var point = ResumePoint()
        for frame in frames { point.note(Array(frame.utf8).span) }
        return point.rev
    }

    static let subscribed = #"{"type":"subscribed","room":"r","head":7,"rev":9,"epoch":"e"}"#

    @Test func `without a message or live there is no position, whatever the rev of subscribed`() {
        #expect(Self.noting() == nil)
        #expect(Self.noting(Self.subscribed) == nil)
    }

    @Test func `without a replay the position is the rev of live`() {
        #expect(Self.noting(Self.subscribed, #"{"type":"live","room":"r","rev":9}"#) == 9)
    }

    @Test func `each message advances the position`() {
        func message(_ rev: Int) -> String {
            #"{"type":"message","message":{"room":"r","seq":8,"rev":\#(rev),"text":"x"}}"#
        }
        #expect(Self.noting(Self.subscribed, message(3)) == 3)
        #expect(Self.noting(Self.subscribed, message(3), #"{"type":"live","room":"r","rev":9}"#, message(10)) == 10)
    }

    @Test func `a subscription cut in its replay does not skip missing messages`() {
        #expect(
            Self.noting(
                #"{"type":"subscribed","room":"r","head":0,"rev":0,"epoch":"e"}"#,
                #"{"type":"live","room":"r","rev":0}"#,
                #"{"type":"message","message":{"room":"r","seq":1,"rev":1}}"#,
                #"{"type":"subscribed","room":"r","head":5,"rev":5,"epoch":"e"}"#,
                #"{"type":"message","message":{"room":"r","seq":2,"rev":2}}"#) == 2)
    }

    @Test func `a repeated message does not move the position back`() {
        #expect(
            Self.noting(
                #"{"type":"live","room":"r","rev":9}"#,
                #"{"type":"message","message":{"room":"r","seq":1,"rev":4}}"#) == 9)
    }

    @Test func `other frames do not move the position`() {
        #expect(Self.noting(#"{"type":"presence","room":"r","online":3}"#, "", "{", #"{"type":"message""#) == nil)
        #expect(Self.noting(#"{"type":"message","message":{"room":"r"}}"#) == nil)
        #expect(Self.noting(#"{"type":"message","message":{"rev":12345678901234567890}}"#) == nil)
    }

    @Test func `the epoch comes from a subscribed frame`() {
        func epoch(_ frame: String) -> String? { ResumePoint.epoch(in: Array(frame.utf8).span) }
        #expect(epoch(#"{"type":"subscribed","room":"r","head":7,"rev":9,"epoch":"k3j"}"#) == "k3j")
        #expect(epoch(#"{"type":"message","message":{"epoch":"no"}}"#) == nil)
    }

    @Test func `bytes are searched to the end`() {
        func end(_ needle: StaticString) -> Int? { Array("abcabd".utf8).span.end(ofFirst: needle) }
        #expect(end("abd") == 6)
        #expect(end("abc") == 3)
        #expect(end("abdx") == nil)
        func find(_ needle: String, in text: String) -> Int? { Array(text.utf8).span.end(ofFirst: Array(needle.utf8)) }
        #expect(find("cab", in: "abcabd") == 5)
        #expect(find("a", in: "") == nil)
    }
}
