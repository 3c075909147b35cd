import ArgumentParser
import Chat
import Tokens
import Wire

/// `backscroll token`.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a token, to try a server out with.",
        discussion: """
            An application issues its tokens itself: JSON Web Tokens (RFC 7519) with the claims sub (the user), exp \
            (when it ends), and if need be rooms (a list of room ids, or patterns with *) and admin (true). This \
            command makes one for the command line:

              backscroll token --sub alice --secret-file secret

            It signs with the secret by HS256, or with the private key by RS256, ES256 or EdDSA, whichever it is for. \
            Without either it takes the secret in \(KeySources.secretVariable).
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "user"))
    var sub: String

    @Option(
        help: ArgumentHelp(
            "Limit the token to these rooms: ids, or patterns with * for any characters. Can be given more than "
                + "once, or with commas.", valueName: "rooms"))
    var rooms: [String] = []

    @Option(help: ArgumentHelp("How long it is good for: 90s, 15m, 1h, 7d.", valueName: "time"))
    var ttl = Lifetime(seconds: 3600)

    @Flag(help: "The user is an admin.")
    var admin = false

    @Option(help: ArgumentHelp("Sign with the secret in this file.", valueName: "path"))
    var secretFile: String?

    @Option(help: ArgumentHelp("Sign with this private key: PEM.", valueName: "path"))
    var key: String?

    @Option(help: ArgumentHelp("The key's name (kid), for a server that finds it in a set.", valueName: "name"))
    var keyID: String?

    @Option(help: ArgumentHelp("Whose token it is (iss).", valueName: "name"))
    var issuer: String?

    @Option(help: ArgumentHelp("Which server it is for (aud).", valueName: "name"))
    var audience: String?

    private var patterns: [String] {
        rooms.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func validate() throws {
        guard (try? UserID(sub)) != nil else {
            throw ValidationError("--sub must be 1 to \(UserID.maximumBytes) bytes of printable text without spaces.")
        }
        for pattern in patterns where RoomPattern(pattern) == nil {
            throw ValidationError("--rooms must be room ids, or patterns of them with *, not '\(pattern)'.")
        }
        guard secretFile == nil || key == nil else { throw ValidationError("--secret-file or --key, not both.") }
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
            throw ValidationError("Sign with --secret-file or --key.")
        }
        return try TokenIssuer(secret: Array(secret.utf8), of: KeySources.secretVariable, keyID: keyID)
    }
}

/// The time that a token is good for, as it is written on the command line: a number and its unit.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
    /// The longest, in seconds: ten years of 365 days.
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
    var defaultValueDescription: String { description }
}
