import ArgumentParser
import Chat
import Tokens
import Wire

/// `backscroll token`.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a token for trying out a server.",
        discussion: """
            Applications issue their own tokens: JSON Web Tokens (RFC 7519) with the claims sub (the user), exp (the expiry \
            time), and optionally rooms (a list of room ids, or patterns with *) and admin (true). This command creates one on \
            the command line:

              backscroll token --sub alice --secret-file secret

            It signs with the secret by HS256, or with the private key by RS256, ES256 or EdDSA, depending on the key's type. \
            Without either it uses the secret in \(KeySources.secretVariable).
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "user"))
    var sub: String

    @Option(
        help: ArgumentHelp(
            "Limit the token to these rooms: ids, or patterns with * for any characters. Can be repeated, or given "
                + "with commas.", valueName: "rooms"))
    var rooms: [String] = []

    @Option(help: ArgumentHelp("The time until it expires: 90s, 15m, 1h, 7d.", valueName: "time"))
    var ttl = Lifetime(seconds: 3600)

    @Flag(help: "Make the user an admin.")
    var admin = false

    @Option(help: ArgumentHelp("Sign with the secret in this file.", valueName: "path"))
    var secretFile: String?

    @Option(help: ArgumentHelp("Sign with this private key (PEM).", valueName: "path"))
    var key: String?

    @Option(help: ArgumentHelp("The key's id (kid), for a server with a key set.", valueName: "name"))
    var keyID: String?

    @Option(help: ArgumentHelp("The issuer (iss).", valueName: "name"))
    var issuer: String?

    @Option(help: ArgumentHelp("The audience (aud): the server that the token is for.", valueName: "name"))
    var audience: String?

    private var patterns: [String] {
        rooms.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func validate() throws {
        guard (try? UserID(sub)) != nil else {
            throw ValidationError("--sub must be 1 to \(UserID.maximumBytes) bytes of printable text without spaces.")
        }
        for pattern in patterns where RoomPattern(pattern) == nil {
            throw ValidationError("--rooms must be room ids, or patterns with *, not '\(pattern)'.")
        }
        guard secretFile == nil || key == nil else { throw ValidationError("Use --secret-file or --key, not both.") }
    }

    func run() throws {
        var contents = TokenIssuer.Contents(
            subject: sub, expiry: Timestamp.now().milliseconds / 1000 + Int64(ttl.seconds))
        contents.rooms = patterns.isEmpty ? nil : patterns
        contents.isAdmin = admin
        contents.issuer = issuer
        contents.audience = audience
        print(try tokenIssuer().token(contents))
    }

    private func tokenIssuer() throws -> TokenIssuer {
        if let secretFile { return try TokenIssuer(secretFile: secretFile, keyID: keyID) }
        if let key { return try TokenIssuer(privateKeyFile: key, keyID: keyID) }
        guard let secret = EnvironmentArguments.current[KeySources.secretVariable] else {
            throw ValidationError("Give a key with --secret-file or --key, or set \(KeySources.secretVariable).")
        }
        return try TokenIssuer(secret: Array(secret.utf8), of: KeySources.secretVariable, keyID: keyID)
    }
}

/// The lifetime of a token on the command line: a number and its unit.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
    /// The longest lifetime in seconds: ten years of 365 days.
    static let maximumSeconds = 10 * 365 * 86_400

    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()), count > 0,
            count <= Self.maximumSeconds / unit
        else { return nil }
        seconds = count * unit
    }

    var description: String { seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds)s" }
}
