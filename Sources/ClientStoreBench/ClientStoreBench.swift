import BackscrollClient
import BackscrollClientStore
import BackscrollTimeline
import Foundation

/// Measures the client's store: filling a room, and opening it offline.
///
///     swift run -c release client-store-bench [MESSAGES] [ROUNDS]
@main
struct ClientStoreBench {
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().map { Int64($0) ?? 0 }
        let count = numbers.first ?? 100_000
        let rounds = Int(numbers.dropFirst().first ?? 11)
        guard numbers.count <= 2, (1...10_000_000).contains(count), (1...1000).contains(rounds) else {
            FileHandle.standardError.write(Data("usage: client-store-bench [MESSAGES] [ROUNDS]\n".utf8))
            exit(64)
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "client-store-bench-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "client.db").path()

        // Nothing listens on the discard port.
        let server = URL(string: "http://127.0.0.1:9")!
        let key = StoredRoomKey(
            account: StoreAccount(server: "http://127.0.0.1:9", user: "alice"), room: "lobby")
        let text = String(repeating: "the quick brown fox, ", count: 13).prefix(256)
        let store: GRDBClientStore = .file(path, maximumBytes: 1 << 40)
        let filling = try await ContinuousClock().measure {
            try await store.write(
                [.page(MessageRun(first: 1, last: 0, rev: 0, hasAfter: false), epoch: "E", [])], to: key)
            var next: Int64 = 1
            while next <= count {
                let last = min(next + 99, count)
                let messages = try (next...last).map { seq in
                    try ChatMessage(
                        json: Array(
                            #"{"room":"lobby","seq":\#(seq),"rev":\#(seq),"sender":"bob","text":"\#(text)","created_at":"2026-11-22T12:00:00.000Z"}"#
                                .utf8))
                }
                try await store.write([.frames(from: next - 1, to: last, epoch: "E", messages)], to: key)
                next = last + 1
            }
        }
        print("write live messages, 100 in each: \(Int64(Double(count) / (filling / .seconds(1)))) messages/s")

        var times: [Duration] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            let client = BackscrollClient(server: server, user: .name("alice"), store: .file(path))
            let room = try await client.room("lobby").open(at: .newest)
            let view = await room.view
            times.append(ContinuousClock.now - start)
            guard view.rows.last?.seq == count else { fatalError("The room does not show what is stored.") }
            await client.close()
        }
        times.sort()
        print("open a room of \(count) messages: median \(times[rounds / 2]), slowest \(times[rounds - 1])")
        if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let peak = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM") })
        {
            print(peak)
        }
    }
}
