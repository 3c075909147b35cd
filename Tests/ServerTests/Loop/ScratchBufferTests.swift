import Testing

@testable import Server

@Suite("The scratch buffer")
struct ScratchBufferTests {
    @Test func `is empty when taken, and keeps its capacity`() {
        var scratch = ScratchBuffer()
        var buffer = scratch.take()
        buffer += Array(repeating: 1, count: ScratchBuffer.kept / 2)
        let capacity = buffer.capacity
        scratch.giveBack(buffer)
        buffer = []
        let again = scratch.take()
        #expect(again.isEmpty && again.capacity == capacity)
    }

    @Test func `is released when it has become large`() {
        var scratch = ScratchBuffer()
        var buffer = scratch.take()
        buffer += Array(repeating: 1, count: ScratchBuffer.kept + 1)
        scratch.giveBack(buffer)
        #expect(scratch.take().capacity <= ScratchBuffer.kept)
    }

    @Test func `is replaced by a new one while it is in use`() {
        var scratch = ScratchBuffer()
        var outer = scratch.take()
        outer.append(1)
        var inner = scratch.take()
        inner.append(2)
        scratch.giveBack(inner)
        scratch.giveBack(outer)
        #expect(outer == [1] && inner == [2])
        #expect(scratch.take().isEmpty)
    }
}
