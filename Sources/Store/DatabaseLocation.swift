/// The location of a database: a file of SQLite, or a database in PostgreSQL.
public enum DatabaseLocation: Sendable, CustomStringConvertible {
    /// The path of a file.
    case file(String)
    /// A connection string of libpq that begins with `postgres://` or `postgresql://`.
    case postgres(String)

    /// Reads a location as users write it.
    public init(_ text: String) {
        let isURL = ["postgres://", "postgresql://"].contains { text.hasPrefix($0) }
        self = isURL ? .postgres(text) : .file(text)
    }

    /// True for the path of a file that was surely meant as a connection string, such as `host=db dbname=chat` or
    /// `Postgres://db/chat`. A path that begins with `./` or `/` is never one.
    static func isConnectionString(_ path: String) -> Bool {
        let text = path.drop { $0.isWhitespace }
        let word = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "_+-.".contains($0)) }
        let rest = text[word.endIndex...].drop { $0.isWhitespace }
        if rest.hasPrefix("=") { return parameters.contains(word.lowercased()) }
        return !word.isEmpty && word.first!.isLetter && rest.hasPrefix("://")
    }

    /// The parameters of libpq with which connection strings begin (PostgreSQL manual, section 34.1.2).
    private static let parameters: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "application_name", "options",
        "connect_timeout", "client_encoding", "target_session_attrs", "sslmode", "sslcert", "sslkey", "sslrootcert",
        "sslpassword", "channel_binding", "gssencmode", "krbsrvname", "keepalives", "load_balance_hosts",
    ]

    /// True if several nodes may use it at the same time.
    public var isShared: Bool {
        if case .postgres = self { true } else { false }
    }

    /// True if it contains a password.
    public var hasPassword: Bool {
        if case .postgres(let url) = self { Self.withoutPassword(url) != url } else { false }
    }

    /// Returns the first location with a password among a program's arguments, as in `--database postgres://u:p@h/d`,
    /// `--database=postgres://…` or without an option. All users of the machine can read arguments.
    public static func withPassword(in arguments: [String]) -> DatabaseLocation? {
        for argument in arguments {
            var text = argument[...]
            if argument.hasPrefix("-"), let sign = argument.firstIndex(of: "=") {
                text = argument[argument.index(after: sign)...]
            }
            let location = DatabaseLocation(String(text))
            if location.hasPassword { return location }
        }
        return nil
    }

    /// The location without a password, for logs.
    public var description: String {
        switch self {
        case .file(let path): path
        case .postgres(let url): Self.withoutPassword(url)
        }
    }

    private static func withoutPassword(_ url: String) -> String {
        var url = url
        // After "://", which every URL here has.
        let start = url.index(url.firstIndex(of: ":")!, offsetBy: 3)
        // To libpq, a "?" before the "@" is a part of the password.
        let end = url[start...].firstIndex(of: "/") ?? url.endIndex
        if let at = url[start..<end].lastIndex(of: "@"), let colon = url[start..<at].firstIndex(of: ":") {
            url.removeSubrange(colon..<at)
        }
        // The parameters `password` and `sslpassword`.
        guard let query = url.firstIndex(of: "?") else { return url }
        let fields = url[url.index(after: query)...].split(separator: "&").filter {
            !$0.hasPrefix("password=") && !$0.hasPrefix("sslpassword=")
        }
        return url[..<query] + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }
}
