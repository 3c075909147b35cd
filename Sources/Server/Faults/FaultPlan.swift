import HTTP
import HTTPTypes
import Wire

/// What one request asks the server to do wrong: a list of faults, in the header `Backscroll-Fault` or in the parameter
/// `fault`.
///
/// A plan belongs to its request and ends with it; the log, the feeds and other requests know nothing of it. Faults that
/// are not about the request at hand do nothing, so that a client can send one header with all that it does.
struct FaultPlan: Hashable, Sendable {
    /// The most faults of one request.
    static let maximumFaults = 16
    /// What the true epoch has behind it where another one is asked for. It is the same each time, so that a client that
    /// has loaded its rooms afresh gets on.
    static let epochSuffix = "fault"

    /// The faults, in the order in which they stand.
    private(set) var faults: [Fault]

    /// The faults that a request asks for; `nil` when it asks for none.
    ///
    /// - Throws: 400 `invalid_fault` when one is unknown, has a value that it cannot have, or when header and parameter
    ///   differ.
    init?(_ request: RequestHead, _ target: DecodedTarget) throws(Problem) {
        let name = HTTPField.Name.backscrollFault
        var plan: FaultPlan?
        if request.headerFields.contains(name) {
            plan = try FaultPlan(parsing: request.headerFields.elements(of: name), field: name.rawName)
        }
        if let text = try target.single(Self.parameter) {
            let other = try FaultPlan(parsing: Array(ListElements(text)), field: Self.parameter)
            guard plan == nil || plan == other else {
                throw .invalidFault(
                    Self.parameter, detail: "The fault parameter and the \(name.rawName) header differ.")
            }
            plan = other
        }
        guard let plan else { return nil }
        self = plan
    }

    private static let parameter = "fault"

    /// Reads the elements of a list.
    ///
    /// - Parameter field: where it stands, for the refusal.
    init(parsing elements: [Substring], field: String) throws(Problem) {
        guard elements.count <= Self.maximumFaults else {
            throw .invalidFault(
                field, detail: "A request must not ask for more than \(Self.maximumFaults) faults.",
                limit: Self.maximumFaults)
        }
        guard !elements.isEmpty else {
            throw .invalidFault(field, detail: "No fault is named. There are: \(Fault.Name.synopsis).")
        }
        var faults: [Fault] = []
        for element in elements {
            let fault = try Fault(parsing: element, field: field)
            // One may be there twice only where its values tell which is meant.
            guard fault.name.isRepeatable || !faults.contains(where: { $0.name == fault.name }) else {
                throw .invalidFault(field, detail: "\(fault.name.rawValue) is there more than once.")
            }
            faults.append(fault)
        }
        self.faults = faults
    }

    /// The value of a fault; `nil` when it is not asked for.
    subscript(name: Fault.Name) -> Int? {
        faults.first { $0.name == name }?.value
    }

    /// Returns whether a fault is asked for with this value.
    func has(_ name: Fault.Name, _ value: Int) -> Bool {
        faults.contains(Fault(name: name, value: value))
    }

    /// The fault of this name, if it is asked for.
    func fault(_ name: Fault.Name) -> Fault? {
        faults.first { $0.name == name }
    }

    /// The plan with the faults that are for this request, of those that are for some requests only.
    ///
    /// - Parameter counts: numbers the requests.
    func due(_ method: HTTPRequest.Method, _ path: String, _ counts: FaultCounts) -> FaultPlan {
        guard faults.contains(where: { $0.occasions != .all }) else { return self }
        var plan = self
        plan.faults = faults.filter { fault in
            fault.occasions == .all || fault.occasions.contains(counts.count(fault, method.rawValue, path))
        }
        return plan
    }

    /// With what the request is to be refused, before anything is done; `nil` when it is not.
    var refusal: Problem? {
        guard let status = self[.status] else { return nil }
        let detail = "This is the fault that the request has asked for."
        var problem =
            switch status {
            case 429: Problem.rateLimited(retryAfter: 1)
            case 503: Problem.unavailable(detail)
            default: Problem.internalError(detail)
            }
        problem.detail = detail
        return problem
    }
}

extension Fault {
    /// Reads `NAME` or `NAME=VALUE`, and `:N` or `/N` behind it.
    fileprivate init(parsing text: Substring, field: String) throws(Problem) {
        guard let mark = text.lastIndex(where: { $0 == ":" || $0 == "/" }) else {
            self = try Fault(single: text, field: field)
            return
        }
        var fault = try Fault(single: text[..<mark], field: field)
        guard fault.name.isCountable else {
            throw .invalidFault(
                field, detail: "\(fault.name.rawValue) is for every request: \(text[mark...]) cannot follow it.")
        }
        let digits = text[text.index(after: mark)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int(digits), (1...Fault.maximumNumber).contains(count)
        else {
            throw .invalidFault(
                field, detail: "Behind \(text[mark]) must be a number of requests, 1 to \(Fault.maximumNumber).",
                limit: Fault.maximumNumber)
        }
        fault.occasions = text[mark] == ":" ? .first(count) : .every(count)
        self = fault
    }

    private init(single text: Substring, field: String) throws(Problem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Name(rawValue: String(parts[0])) else {
            throw .invalidFault(field, detail: "There is no fault \"\(parts[0])\". There are: \(Name.synopsis).")
        }
        self.name = name
        guard parts.count > 1 else {
            value = name.argument?.usual ?? 0
            return
        }
        guard let argument = name.argument else {
            throw .invalidFault(field, detail: "\(name.rawValue) has no value. There are: \(Name.synopsis).")
        }
        guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = Int(parts[1]), argument.allows(value)
        else {
            let range = argument.choice == nil ? ", \(argument.range.lowerBound) to \(argument.range.upperBound)" : ""
            throw .invalidFault(
                field,
                detail: "The value of \(name.rawValue) must be \(argument.meaning)\(range). There are: "
                    + "\(Name.synopsis).",
                limit: argument.choice == nil ? argument.range.upperBound : nil)
        }
        self.value = value
    }
}

extension HTTPField.Name {
    /// Asks the server to misbehave.
    static let backscrollFault = HTTPField.Name("Backscroll-Fault")!
}
