import Foundation
import Logging
import Testing
import Wire

@testable import Server

@Suite struct JSONLogLineTests {
    private let time = Timestamp(milliseconds: 1_795_223_105_004)
    private let handler = LineLogHandler(label: "backscroll", format: .json, level: .info, output: .standardError)

    private func line(_ event: LogEvent, _ handler: LineLogHandler? = nil) -> String {
        String(decoding: (handler ?? self.handler).line(event, at: time), as: UTF8.self)
    }

    @Test func `a message is one object on one line`() {
        let expected = #"{"time":"2026-11-21T01:05:05.004Z","level":"warning","logger":"backscroll","message":"hello"}"#
        #expect(line(LogEvent("hello", level: .warning)) == expected + "\n")
    }

    @Test func `metadata is a nested object, sorted by key`() {
        let event = LogEvent(
            "m", metadata: ["b": ["2", ["x": "y"], []], "a": "1", "c": .stringConvertible(5), "d": [:]])
        #expect(line(event).hasSuffix(#","metadata":{"a":"1","b":["2",{"x":"y"},[]],"c":5,"d":{}}}"# + "\n"))
    }

    @Test func `numbers and booleans stay JSON values, if JSON can represent them`() {
        let event = LogEvent(
            "m",
            metadata: [
                "a": .stringConvertible(-5), "b": .stringConvertible(UInt16(4403)), "c": .stringConvertible(1.25),
                "d": .stringConvertible(true), "e": .stringConvertible(Double.infinity),
                "f": .stringConvertible(Double.nan), "g": "7", "h": .stringConvertible(1e30),
                "token": .stringConvertible(1),
            ])
        let metadata =
            #"{"a":-5,"b":4403,"c":1.25,"d":true,"e":"inf","f":"nan","g":"7","h":1e+30,"token":"[redacted]"}"#
        #expect(line(event).hasSuffix(#","metadata":\#(metadata)}"# + "\n"))
    }

    @Test func `another parser reads any logged value`() throws {
        let odd = "\u{0}\n\r\t\"\\/ é😀\u{7F}\u{2028}}{"
        let bytes = handler.line(LogEvent("\(odd)", metadata: ["\(odd)": ["\(odd)"]]), at: time)
        #expect(bytes.last == UInt8(ascii: "\n"))
        #expect(bytes.dropLast().allSatisfy { $0 >= 0x20 })
        let object = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(object["message"] as? String == odd)
        #expect((object["metadata"] as? [String: [String]])?[odd] == [odd])
    }

    @Test func `values of secret keys are left out at any depth`() {
        let event = LogEvent(
            "m",
            metadata: ["Authorization": "Bearer x", "request": ["access_token": "x", "room": "r"], "token": ["x"]])
        let metadata =
            #"{"Authorization":"[redacted]","request":{"access_token":"[redacted]","room":"r"},"#
            + #""token":"[redacted]"}"#
        #expect(line(event).hasSuffix(#","metadata":\#(metadata)}"# + "\n"))
    }

    @Test func `tokens in targets are removed from messages and values`() {
        let event = LogEvent(
            "GET /?access_token=x 1",
            metadata: ["a": "/?access_token=x", "b": .stringConvertible("/?access_token=x&y"), "c": ["access_token=x"]])
        #expect(!line(event).contains("=x"))
        #expect(line(event).contains(#""message":"GET /?access_token=[redacted] 1""#))
        #expect(line(event).contains(#""b":"/?access_token=[redacted]&y""#))
    }

    @Test func `a message's own metadata wins over the provider's, which wins over the logger's`() {
        var handler = handler
        handler.metadata = ["a": "logger", "b": "logger", "c": "logger"]
        handler.metadataProvider = Logger.MetadataProvider { ["b": "provider", "c": "provider"] }
        let text = line(LogEvent("m", metadata: ["c": "message"]), handler)
        #expect(text.hasSuffix(#","metadata":{"a":"logger","b":"provider","c":"message"}}"# + "\n"))
    }

    @Test func `an error has its text and its type`() {
        let text = line(LogEvent("m", level: .error, error: DiskFull()))
        #expect(text.contains(#""error.message":"disk \"full\"","error.type":"ServerTests.DiskFull""#))
    }
}
