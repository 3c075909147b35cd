/// The environment variables that set options: `BACKSCROLL_TLS_CERT` sets `--tls-cert`.
public enum EnvironmentVariables {
    /// The prefix of all variables.
    public static let prefix = "BACKSCROLL_"

    /// Returns the variable of an option, given without leading hyphens.
    public static func name(of option: String) -> String {
        prefix + option.uppercased().replacing("-", with: "_")
    }

    /// Returns warnings about variables with the prefix that match no option. Values are left out, since they may be
    /// secrets.
    ///
    /// - Parameters:
    ///   - names: The names of all variables in the environment.
    ///   - known: The names that have an effect.
    public static func warnings(about names: some Sequence<String>, known: [String]) -> [String] {
        names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted().map { name in
            let nearest = known.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
            let hint = nearest.flatMap { $0.distance <= 3 ? "; is \($0.name) meant?" : nil }
            return "the environment variable \(name) is unknown and has no effect\(hint ?? "")"
        }
    }

    /// Replaces options in an error's text by the variables that set them: `--port <port>` becomes `BACKSCROLL_PORT`.
    ///
    /// - Parameter options: The options that variables have set, without leading hyphens.
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
            // Skip the option's placeholder.
            if rest.hasPrefix(" <"), let end = rest.firstIndex(of: ">") { rest = rest[rest.index(after: end)...] }
        }
        return result + rest
    }

    /// Returns the Levenshtein distance: the number of characters to insert, delete or replace to turn one text into
    /// the other.
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
