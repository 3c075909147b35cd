import COpenSSL
import Testing

@testable import Signatures

/// An example of the RFCs: a signed text, its signature and the key, in base64url.
struct Vector: Sendable, CustomTestStringConvertible {
    let source: String
    let algorithm: SignatureAlgorithm
    let text: String
    private let encodedSignature: String

    var testDescription: String { source }
    var signature: [UInt8] { bytes(base64URL: encodedSignature) }

    func key() throws -> VerifyingKey {
        switch algorithm {
        case .hs256: VerifyingKey(secret: Self.secret)
        case .rs256: try VerifyingKey(rsaModulus: Self.rsaModulus, exponent: [1, 0, 1])
        case .es256: try VerifyingKey(p256X: Self.p256X, y: Self.p256Y)
        case .edDSA: try VerifyingKey(ed25519: Self.ed25519)
        }
    }

    static let secret = bytes(
        base64URL: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
    static let rsaModulus = bytes(
        base64URL: """
            ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ\
            S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2\
            R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD\
            TW9gb54h4FRWyuXpoQ
            """)
    static let p256X = bytes(base64URL: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    static let p256Y = bytes(base64URL: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    static let ed25519 = bytes(base64URL: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")

    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    static let all = [
        Vector(
            source: "RFC 7515, A.1", algorithm: .hs256,
            text: "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + payload,
            encodedSignature: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        Vector(
            source: "RFC 7515, A.2", algorithm: .rs256, text: "eyJhbGciOiJSUzI1NiJ9." + payload,
            encodedSignature: """
                cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdb\
                F9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383\
                LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWy\
                wlVmtVrBp0igcN_IoypGlUPQGe77Rw
                """),
        Vector(
            source: "RFC 7515, A.3", algorithm: .es256, text: "eyJhbGciOiJFUzI1NiJ9." + payload,
            encodedSignature: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
        Vector(
            source: "RFC 8037, A.4", algorithm: .edDSA,
            text: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            encodedSignature: "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"),
    ]
}

/// Decodes base64url with OpenSSL.
func bytes(base64URL text: String) -> [UInt8] {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let text = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    var bytes = [UInt8](repeating: 0, count: text.utf8.count / 4 * 3)
    let count = EVP_DecodeBlock(&bytes, text, Int32(text.utf8.count))
    precondition(count == bytes.count, "\(text) is not in base64url")
    return bytes.dropLast(padding.utf8.count)
}

/// Decodes hexadecimal digits.
func bytes(hex text: String) -> [UInt8] {
    var digits = text.compactMap(\.hexDigitValue)[...]
    var bytes: [UInt8] = []
    while let high = digits.popFirst(), let low = digits.popFirst() { bytes.append(UInt8(high << 4 | low)) }
    return bytes
}
