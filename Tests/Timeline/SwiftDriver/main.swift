// The driver of the Swift timeline: reads one event per line from standard input, and answers each with one line on
// standard output, as Tests/Timeline/driver.js does. scripts/timeline swift builds and starts it.

import BackscrollTimeline

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Answers lines. The first event must be `start`.
struct Driver {
    private var timeline: DriverTimeline?
    private var lastView: DriverTimeline.View?
    private var list = DriverList()

    /// Appends the answer to a line.
    mutating func answer(_ line: some Sequence<UInt8>, to writer: inout JSONWriter) {
        do {
            let event = try JSONParser.parse(line)
            if let told = event["readership"], let view = lastView {
                writer.writeReadership(try Readership(told), view)
                writer.raw("\n")
                return
            }
            if let change = event["layout"], let view = lastView {
                try list.take(change, view, to: &writer)
                writer.raw("\n")
                return
            }
            switch (try EventReader.read(event), timeline) {
            case (.start(let started), nil):
                timeline = started
                lastView = started.view
                writer.writeAnswer([], started.view)
            case (.start, _): throw MalformedEvent("start comes once")
            case (.handle, nil): throw MalformedEvent("the first event must be start")
            case (.handle(let event), _): handle(event, to: &writer)
            }
        } catch let error as MalformedEvent {
            writer.writeError(error.message)
        } catch {
            writer.writeError("the line is no JSON")
        }
        writer.raw("\n")
    }

    private mutating func handle(_ event: DriverTimeline.Event, to writer: inout JSONWriter) {
        guard let effects = timeline?.handle(event), let view = timeline?.view, let before = lastView else { return }
        // Every test with the driver thus checks the difference as well.
        precondition(view.difference(from: before).applied(to: before.rows) == view.rows, "the difference is wrong")
        lastView = view
        writer.writeAnswer(effects, view)
    }
}

/// Calls `take` with each line of standard input, without its end, and `flush` after all available lines.
func forEachLine(_ take: (ArraySlice<UInt8>) -> Void, flush: () -> Void) {
    var pending: [UInt8] = []
    while true {
        let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var result = 0
            repeat { result = read(STDIN_FILENO, buffer.baseAddress, buffer.count) } while result < 0 && errno == EINTR
            count = max(0, result)
        }
        if chunk.isEmpty { break }
        var start = 0
        while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
            take(pending + chunk[start..<end])
            pending.removeAll(keepingCapacity: true)
            start = end + 1
        }
        pending.append(contentsOf: chunk[start...])
        flush()
    }
    if !pending.isEmpty { take(pending[...]) }
    flush()
}

/// Writes all bytes to standard output. Ends the process if the reader has closed it.
func writeAll(_ bytes: [UInt8]) {
    var written = 0
    while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count <= 0 { exit(1) }
        written += count
    }
}

var driver = Driver()
var output = JSONWriter()
forEachLine(
    { driver.answer($0, to: &output) },
    flush: {
        writeAll(output.bytes)
        output = JSONWriter()
    })
