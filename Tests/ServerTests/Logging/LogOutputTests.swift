import Dispatch
import Glibc
import TestSupport
import Testing

@testable import Server

@Suite struct LogOutputTests {
    @Test func `lines of several threads never mix, even in a small pipe`() {
        let pipe = PipeEnds()
        let output = LogOutput(descriptor: pipe.writing)
        let group = DispatchGroup()
        for writer in 0..<4 {
            let line = [UInt8](repeating: UInt8(ascii: "a") + UInt8(writer), count: 100_000) + [UInt8(ascii: "\n")]
            DispatchQueue(label: "writer").async(group: group) {
                for _ in 0..<5 { output.write(line: line) }
            }
        }
        group.notify(queue: DispatchQueue(label: "end")) { [writing = pipe.writing] in close(writing) }
        let lines = pipe.readToEnd().split(separator: UInt8(ascii: "\n"))
        close(pipe.reading)
        #expect(lines.count == 20)
        #expect(lines.allSatisfy { line in line.count == 100_000 && line.allSatisfy { $0 == line.first } })
    }

    @Test func `a line that cannot be written is dropped, and the next one starts a new line`() {
        let pipe = PipeEnds()
        for end in [pipe.reading, pipe.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        let output = LogOutput(descriptor: pipe.writing)
        output.write(line: Array("first\n".utf8))
        output.write(line: [UInt8](repeating: UInt8(ascii: "x"), count: 100_000) + [UInt8(ascii: "\n")])
        output.write(line: Array("lost\n".utf8))
        let text = String(decoding: pipe.readToEnd(), as: UTF8.self)
        #expect(text.hasPrefix("first\nxxx") && text.hasSuffix("xxx"))
        output.write(line: Array("next\n".utf8))
        output.write(line: Array("last\n".utf8))
        #expect(pipe.finish() == "\nnext\nlast\n")
    }

    @Test func `a blocked descriptor blocks nobody`() {
        LogOutput(descriptor: -1).write(line: Array("x\n".utf8))
    }
}
