import Glibc
import Logging
import TestSupport
import Testing

@testable import Server

@Suite struct LoggerMakingTests {
    @Test(arguments: LogFormat.allCases)
    func `messages below the level are not written`(format: LogFormat) {
        let pipe = PipeEnds()
        let logger = makeLogger(
            label: "x", format: format, level: .warning, output: LogOutput(descriptor: pipe.writing))
        logger.info("quiet")
        logger.warning("loud", metadata: ["room": "r"])
        let text = pipe.finish()
        #expect(text.contains("loud") && !text.contains("quiet"))
        #expect(text.filter { $0 == "\n" }.count == 1)
        #expect(text.hasPrefix("{") == (format == .json))
    }

    @Test(arguments: LogFormat.allCases)
    func `loggers have separate levels and metadata`(format: LogFormat) {
        let first = makeLogger(label: "x", format: format, level: .debug)
        var second = first
        second.logLevel = .error
        second[metadataKey: "only-on"] = "second"
        #expect(first.logLevel == .debug)
        #expect(first[metadataKey: "only-on"] == nil)
        #expect(second.logLevel == .error)
        #expect(second[metadataKey: "only-on"] == "second")
    }
}
