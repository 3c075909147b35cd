import Glibc
import Wire

/// The position from which a subscription to Backscroll resumes: the highest `rev` of a received message or `live`
/// frame. The `rev` of a `subscribed` frame does not count: it is the room's, and messages before it may not have been
/// received.
///
/// It searches the server's frames, whose members have a fixed order, because parsing JSON would be too slow at this
/// rate.
struct ResumePoint: Equatable, Sendable {
    /// The `rev` to pass as `since`; nil before the first message or `live`.
    private(set) var rev: Int64?

    private static let message: StaticString = #"{"type":"message","#
    private static let live: StaticString = #"{"type":"live","#
    private static let subscribed: StaticString = #"{"type":"subscribed","#
    private static let member: StaticString = #""rev":"#
    private static let epoch: StaticString = #""epoch":""#

    /// Creates the position after the change `rev`, or with nil the position before any.
    init(rev: Int64? = nil) {
        self.rev = rev
    }

    /// Reads a frame of the subscription. The `rev` of a message or of `live` advances the position.
    mutating func note(_ frame: Span<UInt8>) {
        guard frame.begins(with: Self.message) || frame.begins(with: Self.live),
            let new = Self.number(after: Self.member, in: frame)
        else { return }
        rev = max(rev ?? 0, new)
    }

    /// Returns the epoch in a `subscribed` frame.
    static func epoch(in frame: Span<UInt8>) -> String? {
        guard frame.begins(with: subscribed), let start = frame.end(ofFirst: epoch) else { return nil }
        var end = start
        while end < frame.count, frame[end] != UInt8(ascii: "\"") { end += 1 }
        return String(decoding: [UInt8](copying: frame.extracting(start..<end)), as: UTF8.self)
    }

    private static func number(after name: StaticString, in frame: Span<UInt8>) -> Int64? {
        guard let start = frame.end(ofFirst: name) else { return nil }
        var value: Int64 = 0
        var index = start
        while index < frame.count, case let digit = frame[index] &- UInt8(ascii: "0"), digit <= 9 {
            guard index - start < 18 else { return nil }
            value = value * 10 + Int64(digit)
            index += 1
        }
        return index > start ? value : nil
    }
}

extension Span<UInt8> {
    /// Returns true if the bytes begin with those of `text`.
    func begins(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        return withUnsafeBufferPointer { bytes in
            // Both regions have `length` bytes, and neither pointer leaves the call.
            memcmp(bytes.baseAddress!, text.utf8Start, length) == 0
        }
    }

    /// Returns the offset after the first occurrence of `text`.
    func end(ofFirst text: StaticString) -> Int? {
        end(ofFirst: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Returns the offset after the first occurrence of `text`; nil if there is none, or if the text is empty.
    func end(ofFirst text: [UInt8]) -> Int? {
        // The pointer does not leave the call.
        text.withUnsafeBufferPointer { needle in needle.baseAddress.flatMap { end(ofFirst: $0, count: needle.count) } }
    }

    private func end(ofFirst needle: UnsafePointer<UInt8>, count length: Int) -> Int? {
        withUnsafeBufferPointer { bytes in
            // The match of memchr is in `bytes`, with at least `length` bytes from it on, and the needle has `length`
            // bytes.
            guard let base = bytes.baseAddress, length > 0 else { return nil }
            var offset = 0
            while bytes.count - offset >= length,
                let found = memchr(base + offset, Int32(needle[0]), bytes.count - offset - length + 1)
            {
                offset = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
                if memcmp(found, needle, length) == 0 { return offset + length }
                offset += 1
            }
            return nil
        }
    }
}
