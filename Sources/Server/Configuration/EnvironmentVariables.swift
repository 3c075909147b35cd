/// The environment variables that stand for options: `BACKSCROLL_TLS_CERT` for `--tls-cert`.
public enum EnvironmentVariables {
    /// The prefix of all variables.
    public static let prefix = "BACKSCROLL_"

    /// The variable of an option, whose name is given without hyphens in front.
    public static func name(of option: String) -> String {
        prefix + option.uppercased().replacing("-", with: "_")
    }

    /// The warnings about variables that have no effect, because no option has such a name. Values are not in them: they may
    /// be secrets.
    ///
    /// - Parameters:
    ///   - names: the names of all variables of the environment.
    ///   - known: the names of those that have an effect.
    public static func warnings(about names: some Sequence<String>, known: [String]) -> [String] {
        names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted().map { name in
            let nearest = known.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
            let hint = nearest.flatMap { $0.distance <= 3 ? "; is \($0.name) meant?" : nil }
            return "the environment variable \(name) is unknown and has no effect\(hint ?? "")"
        }
    }

    /// An error's text with the names of variables in place of the options that they have set: `--port <port>` becomes
    /// `BACKSCROLL_PORT`.
    ///
    /// - Parameter options: the options that were given by variables, without hyphens in front.
    public static func text(_ text: String, namingVariablesOf options: [String]) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "--") {
            result += rest[..<start.lowerBound]
            let name = rest[start.upperBound...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            rest = rest[name.endIndex...]
            guard options.contains(String(name)) else {
                result += "--" + name
                continue
            }
            result += Self.name(of: String(name))
            // What the option takes is said after it.
            if rest.hasPrefix(" <"), let end = rest.firstIndex(of: ">") { rest = rest[rest.index(after: end)...] }
        }
        return result + rest
    }

    /// The number of characters that have to be inserted, deleted or replaced to make one text of the other
    /// (Levenshtein).
    private static func distance(_ a: String, _ b: String) -> Int {
        let b = Array(b.utf8)
        var row = Array(0...b.count)
        for (i, character) in a.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let replaced = diagonal + (character == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count]
    }
}
