import HTTPTypes
import Wire

/// A path with its routes. ``all`` is made of ``Route/all``.
final class Resource: Sendable {
    /// The path, with placeholders in braces.
    let path: String
    /// Its index in ``all``, for tables of metrics.
    let index: Int
    /// One route for each method.
    let routes: [Route]
    /// The value of `Allow`: the methods that it supports.
    let allowed: String

    /// The path's other segments, the last ones first: they tell paths apart, and the first ones seldom do.
    private let literals: [(index: Int, text: String)]
    private let placeholders: [(index: Int, Placeholder)]

    private init(_ path: String, index: Int, _ routes: [Route]) {
        self.path = path
        self.index = index
        self.routes = routes
        let methods = routes.flatMap { $0.method == .get && !$0.isLive ? [.get, .head] : [$0.method] }
        allowed = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var (literals, placeholders): ([(index: Int, text: String)], [(index: Int, Placeholder)]) = ([], [])
        for (index, segment) in segments.enumerated() {
            if segment.hasPrefix("{") {
                let name = String(segment.dropFirst().dropLast())
                guard let placeholder = Placeholder(rawValue: name) else {
                    preconditionFailure("\(path) has a placeholder that no value is read for")
                }
                placeholders.append((index, placeholder))
            } else {
                literals.append((index, segment))
            }
        }
        self.literals = literals.reversed()
        self.placeholders = placeholders
    }

    /// The listeners that serve it.
    var listeners: Route.Listeners { routes[0].listeners }

    /// True if it is answered with WebSockets or event streams.
    var isLive: Bool { routes[0].isLive }

    /// The route of a method; `nil` if it does not support it.
    func route(for method: HTTPRequest.Method) -> Route? {
        for route in routes where route.method == method { return route }
        return method == .head && !isLive ? route(for: .get) : nil
    }

    // MARK: Finding one

    /// All resources, in the order of ``Route/all``.
    static let all: [Resource] = {
        var paths: [String] = []
        for route in Route.all where !paths.contains(route.path) { paths.append(route.path) }
        return paths.enumerated().map { index, path in
            Resource(path, index: index, Route.all.filter { $0.path == path })
        }
    }()

    /// The resources by the number of their segments, so that a request is compared with few of them.
    private static let bySegments: [[Resource]] = {
        let longest = all.map(\.segmentCount).max() ?? 0
        return (0...longest).map { count in all.filter { $0.segmentCount == count } }
    }()

    private var segmentCount: Int { literals.count + placeholders.count }

    /// Returns the resource that a path names; `nil` if there is none.
    ///
    /// - Parameter segments: The path's segments, percent-decoded.
    static func find(_ segments: [String]) -> Resource? {
        guard segments.count < bySegments.count else { return nil }
        for resource in bySegments[segments.count] where resource.matches(segments) { return resource }
        return nil
    }

    private func matches(_ segments: [String]) -> Bool {
        for (index, text) in literals where segments[index] != text { return false }
        return true
    }

    /// Reads the values that a path of this resource has in place of the placeholders.
    ///
    /// - Throws: 400 when one is invalid.
    func values(in segments: [String]) throws(Problem) -> PathValues {
        var values = PathValues()
        for (index, placeholder) in placeholders { try values.read(segments[index], as: placeholder) }
        return values
    }

    /// Returns the text of a path's segment in place of a placeholder; `nil` if the resource does not have it.
    func text(of wanted: Placeholder, in segments: [String]) -> String? {
        for (index, placeholder) in placeholders where placeholder == wanted { return segments[index] }
        return nil
    }
}
