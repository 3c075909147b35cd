import Server
import Testing

@Suite("Environment variables")
struct EnvironmentVariablesTests {
    @Test func `are named after options`() {
        #expect(EnvironmentVariables.name(of: "tls-cert") == "BACKSCROLL_TLS_CERT")
        #expect(EnvironmentVariables.name(of: "port") == "BACKSCROLL_PORT")
    }

    @Test func `that are unknown cause warnings with a suggested name and without values`() {
        let warnings = EnvironmentVariables.warnings(
            about: [
                "BACKSCROLL_PROT", "PATH", "BACKSCROLL_HOST", "BACKSCROLL_FRIENDS_OF_MINE", "backscroll_port",
                "BACKSCROLL",
            ],
            known: ["BACKSCROLL_PORT", "BACKSCROLL_HOST"])
        #expect(
            warnings == [
                "the environment variable BACKSCROLL_FRIENDS_OF_MINE is unknown and has no effect",
                "the environment variable BACKSCROLL_PROT is unknown and has no effect; is BACKSCROLL_PORT meant?",
            ])
    }

    @Test(arguments: [
        ("--port must be from 0 to 65535, not 65536.", "BACKSCROLL_PORT must be from 0 to 65535, not 65536."),
        ("The value 'x' is invalid for '--port <port>'", "The value 'x' is invalid for 'BACKSCROLL_PORT'"),
        ("--tls-cert and --tls-key go together.", "BACKSCROLL_TLS_CERT and --tls-key go together."),
        ("--ports, --port-x, -port and --port", "--ports, --port-x, -port and BACKSCROLL_PORT"),
        ("nothing, -- and --", "nothing, -- and --"), ("--port <", "BACKSCROLL_PORT <"), ("", ""),
        ("--tls-cert=/a --port=1", "BACKSCROLL_TLS_CERT=/a BACKSCROLL_PORT=1"),
    ])
    func `replace the options that they set in error messages`(text: String, expected: String) {
        #expect(EnvironmentVariables.text(text, namingVariablesOf: ["port", "tls-cert"]) == expected)
    }
}
