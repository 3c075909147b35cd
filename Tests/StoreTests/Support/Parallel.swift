import Dispatch
import Glibc
import TestSupport
import Testing

/// Runs `body` on `count` threads, and waits for all. Errors are recorded as issues.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let group = DispatchGroup()
    let test = Test.current
    for index in 0..<count {
        let thread = DispatchQueue(label: "\(test?.name ?? "") \(index)")
        thread.async(group: group) {
            #expect(throws: Never.self) { try body(index) }
        }
    }
    group.wait()
}
