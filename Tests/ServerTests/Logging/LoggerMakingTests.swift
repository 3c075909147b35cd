import Glibc
import Logging
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

    @Test func `after the process is set up, every logger writes to standard error`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                bootstrapLogging(format: .json, level: .notice)
                let logger = Logger(label: "anyone")
                logger.info("quiet")
                logger.notice("loud")
            })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains(#""level":"notice","logger":"anyone","message":"loud"}"#))
        #expect(!text.contains("quiet"))
    }
}
