import HTTP
import HTTPTypes
import Wire

/// The faults that one request asks for, in the header `Backscroll-Fault` or in the parameter `fault`.
///
/// Faults that do not concern the request do nothing, so a client can send the same header with every request.
struct FaultPlan: Hashable, Sendable {
    /// Maximum number of faults of one request.
    static let maximumFaults = 16

    /// The faults, in the order given.
    private(set) var faults: [Fault] = []

    /// Creates a plan without faults.
    init() {}

    /// Reads the faults that a request asks for.
    ///
    /// - Throws: 400 `invalid_fault` when a fault is unknown or has an invalid value, or when header and parameter
    ///   differ.
    init(_ request: RequestHead) throws(Problem) {
        let name = HTTPField.Name.backscrollFault
        var plan: FaultPlan?
        if request.headerFields.contains(name) {
            plan = try FaultPlan(parsing: request.headerFields.elements(of: name), field: name.rawName)
        }
        // The server refuses a query that cannot be decoded.
        if let query = try? request.target?.parameters(), let text = query[Self.parameter] {
            guard !query.isRepeated(Self.parameter) else {
                throw .invalidFault(Self.parameter, detail: "The parameter fault occurs more than once.")
            }
            let other = try FaultPlan(parsing: Array(ListElements(text)), field: Self.parameter)
            guard plan == nil || plan == other else {
                throw .invalidFault(
                    Self.parameter, detail: "The fault parameter and the \(name.rawName) header differ.")
            }
            plan = other
        }
        if let plan { self = plan }
    }

    private static let parameter = "fault"

    /// Returns a path and query without the parameter, which the server is not to see: it may inject faults, too.
    static func removed(from target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let pairs = target[mark...].dropFirst().split(separator: "&").filter { !$0.hasPrefix(parameter + "=") }
        return target[..<mark] + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// Parses the elements of a list.
    ///
    /// - Parameter field: The header or parameter, for error messages.
    init(parsing elements: [Substring], field: String) throws(Problem) {
        guard elements.count <= Self.maximumFaults else {
            throw .invalidFault(
                field, detail: "A request can ask for at most \(Self.maximumFaults) faults.",
                limit: Self.maximumFaults)
        }
        guard !elements.isEmpty else {
            throw .invalidFault(field, detail: "The list of faults is empty. Known faults: \(Fault.Name.synopsis).")
        }
        var faults: [Fault] = []
        for element in elements {
            let fault = try Fault(parsing: element, field: field)
            // Only faults of single frames may occur more than once.
            guard fault.name.isRepeatable || !faults.contains(where: { $0.name == fault.name }) else {
                throw .invalidFault(field, detail: "\(fault.name.rawValue) occurs more than once.")
            }
            faults.append(fault)
        }
        self.faults = faults
    }

    /// The value of a fault; `nil` when it is not asked for.
    subscript(name: Fault.Name) -> Int? {
        fault(name)?.value
    }

    func has(_ name: Fault.Name, _ value: Int) -> Bool {
        faults.contains(Fault(name: name, value: value))
    }

    /// Returns the fault of this name; `nil` when it is not asked for.
    func fault(_ name: Fault.Name) -> Fault? {
        faults.first { $0.name == name }
    }

    /// Returns the plan without the faults that do not apply to this request.
    ///
    /// - Parameter counts: The counters of requests.
    func due(_ method: HTTPRequest.Method, _ path: String, _ counts: FaultCounts) -> FaultPlan {
        var plan = self
        plan.faults = faults.filter { fault in
            fault.occasions == .all || fault.occasions.contains(counts.count(fault, method.rawValue, path))
        }
        return plan
    }

    /// The problem that the request is refused with before anything is done; `nil` when it is not refused.
    var refusal: Problem? {
        guard let status = self[.status] else { return nil }
        let detail = "The request asked for this fault."
        switch status {
        case 429: return Problem(code: .rateLimited, detail: detail, retryAfter: 1)
        case 503: return Problem(code: .unavailable, detail: detail, retryAfter: 1)
        default: return .internalError(detail)
        }
    }
}

extension Fault {
    /// Parses `NAME` or `NAME=VALUE`, optionally followed by `:N` or `/N`.
    fileprivate init(parsing text: Substring, field: String) throws(Problem) {
        guard let mark = text.lastIndex(where: { $0 == ":" || $0 == "/" }) else {
            self = try Fault(single: text, field: field)
            return
        }
        var fault = try Fault(single: text[..<mark], field: field)
        guard fault.name.isCountable else {
            throw .invalidFault(
                field, detail: "\(text[mark...]) cannot follow \(fault.name.rawValue), which applies to every request.")
        }
        let digits = text[text.index(after: mark)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int(digits), (1...Fault.maximumNumber).contains(count)
        else {
            throw .invalidFault(
                field, detail: "\(text[mark]) must be followed by a number of requests, 1 to \(Fault.maximumNumber).",
                limit: Fault.maximumNumber)
        }
        fault.occasions = text[mark] == ":" ? .first(count) : .every(count)
        self = fault
    }

    private init(single text: Substring, field: String) throws(Problem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Name(rawValue: String(parts[0])) else {
            throw .invalidFault(field, detail: "Unknown fault \"\(parts[0])\". Known faults: \(Name.synopsis).")
        }
        self.name = name
        guard parts.count > 1 else {
            value = name.argument?.usual ?? 0
            return
        }
        guard let argument = name.argument else {
            throw .invalidFault(field, detail: "\(name.rawValue) takes no value. Known faults: \(Name.synopsis).")
        }
        guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = Int(parts[1]), argument.allows(value)
        else {
            let range = argument.choice == nil ? ", \(argument.range.lowerBound) to \(argument.range.upperBound)" : ""
            throw .invalidFault(
                field,
                detail: "The value of \(name.rawValue) must be \(argument.meaning)\(range). Known faults: "
                    + "\(Name.synopsis).",
                limit: argument.choice == nil ? argument.range.upperBound : nil)
        }
        self.value = value
    }
}

extension HTTPField.Name {
    /// The header that asks for faults.
    static let backscrollFault = HTTPField.Name("Backscroll-Fault")!
}

/// Counts the requests that ask for a fault on some occasions only. Each combination of method, path and fault has its
/// own counter. Counters start at 1, and exist only in memory.
final class FaultCounts {
    /// Maximum number of counters. One more resets all of them.
    static let maximum = 10_000

    private struct Key: Hashable {
        let fault: Fault
        let method: String
        let path: String
    }

    private var counts: [Key: Int] = [:]

    /// Counts a request and returns its number.
    func count(_ fault: Fault, _ method: String, _ path: String) -> Int {
        let key = Key(fault: fault, method: method, path: path)
        if counts[key] == nil, counts.count >= Self.maximum { counts = [:] }
        counts[key, default: 0] += 1
        return counts[key]!
    }
}
